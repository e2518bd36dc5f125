import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { assertProblem } from '../../../test/support/assert-answer.ts'
import { rawSocket } from '../../../test/support/raw-request.ts'
import { describeSandbox, expiredAnswer } from '../../../test/support/sandbox-control.ts'
import { until } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import type { SampleCustomer } from '../src/sample-records.ts'

const accounts = '/v2/transfer/fiat-accounts'
const addresses = '/v2/transfer/deposit-addresses'
let as: SampleCustomer
const sandbox = describeSandbox({}, async () => {
  as = await sandbox.customer({ seed: 'faults', records: 'sample' })
})

const inject = async (fault: object) => {
  const created = await sandbox.control('POST', '/sandbox/faults', {
    customer_id: as.customerId,
    ...fault,
  })
  assert.equal(created.status, 201, created.text)
  return created.body
}
const read = (path: string = accounts) => sandbox.call(path, { as })
const faults = async (query = '') => (await sandbox.control('GET', `/sandbox/faults${query}`)).body

describe('a fault', () => {
  for (const [status, retryAfter] of [
    [408, undefined],
    [429, 7],
    [500, undefined],
    [502, undefined],
    [503, undefined],
    [504, undefined],
  ] as const) {
    test(`answers ${status} to the next requests and to no further one`, async () => {
      await inject({
        kind: 'status',
        status,
        times: 2,
        ...(retryAfter && { retry_after: retryAfter }),
      })
      const expected = {
        status,
        detail: 'a fault that POST /sandbox/faults has asked for',
        instance: accounts,
        ...([429, 503].includes(status) && {
          headers: { 'retry-after': String(retryAfter ?? 1) },
        }),
      }
      assertProblem(await read(), expected)
      assertProblem(await read(), expected)
      assert.equal((await read()).status, 200)
    })
  }

  test('answers as if the token had expired', async () => {
    await inject({ kind: 'expired_token' })
    assertProblem(await read(), expiredAnswer(accounts))
    assert.equal((await read()).status, 200)
  })

  test('delays an answer', async () => {
    await inject({ kind: 'delay', delay_ms: 1000 })
    using time = takeTime()
    const answered: string[] = []
    const delayed = read().then(({ status }) => answered.push(`delayed ${status}`))
    // The fault belongs to the first request that arrives.
    await until(async () => (await faults()).faults.length === 0)
    await time.advance(999)
    await read().then(({ status }) => answered.push(`next ${status}`))
    assert.deepEqual(answered, ['next 200'])
    await time.advance(1)
    await delayed
    assert.deepEqual(answered, ['next 200', 'delayed 200'])
  })

  test('closes the connection without an answer, or in the middle of the body', async () => {
    const token = await sandbox.tokenOf(as)
    const request = `GET ${accounts} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`
    await inject({ kind: 'cut' })
    assert.equal(await rawSocket(sandbox.url, request), '')
    await inject({ kind: 'truncated' })
    const [head = '', body = ''] = (await rawSocket(sandbox.url, request)).split('\r\n\r\n')
    assert.match(head, /^HTTP\/1\.1 200 OK/)
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1])
    assert.equal(Buffer.from(body, 'latin1').length > 0, true)
    assert.ok(body.length < length)
    assert.equal((await read()).status, 200)
  })

  test('meets one operation of one customer', async () => {
    const neighbour = await sandbox.customer()
    await inject({ kind: 'status', status: 503, operation: 'listDepositAddresses' })
    assert.equal((await read()).status, 200)
    assert.equal((await sandbox.call(addresses, { as: neighbour })).status, 200)
    assert.equal((await read(addresses)).status, 503)
    assert.equal((await read(addresses)).status, 200)
  })

  test('comes in the order in which they were made', async () => {
    await inject({ kind: 'status', status: 500 })
    await inject({ kind: 'status', status: 503, operation: 'listFiatAccounts' })
    assert.deepEqual(
      [(await read()).status, (await read()).status, (await read()).status],
      [500, 503, 200],
    )
  })
})

describe('a fault of /oauth2/token', () => {
  const fetchToken = () => {
    const credentials = Buffer.from(`${as.clientId}:${as.clientSecret}`).toString('base64')
    return sandbox.call('/oauth2/token', {
      as: null,
      method: 'POST',
      headers: {
        authorization: `Basic ${credentials}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'grant_type=client_credentials',
    })
  }

  test('answers the next requests for a token, and no request under /v2', async () => {
    const fault = { kind: 'status', status: 503, operation: '/oauth2/token', retry_after: 3 }
    await inject(fault)
    assert.equal((await read()).status, 200)
    assertProblem(await fetchToken(), {
      status: 503,
      detail: 'a fault that POST /sandbox/faults has asked for',
      instance: '/oauth2/token',
      headers: { 'retry-after': '3' },
    })
    const { status, body } = await fetchToken()
    assert.deepEqual([status, body.token_type], [200, 'bearer'])
    const path = `/sandbox/requests?customer_id=${as.customerId}`
    const [, failed] = (await sandbox.control('GET', path)).body.requests
    assert.deepEqual([failed.operation, failed.fault], ['/oauth2/token', 'status'])
  })

  test('closes the connection without a token', async () => {
    await inject({ kind: 'cut', operation: '/oauth2/token' })
    await assert.rejects(fetchToken())
    assert.equal((await fetchToken()).status, 200)
  })

  test('is not one of every operation', async () => {
    await inject({ kind: 'status', status: 502 })
    assert.equal((await fetchToken()).status, 200)
    assert.equal((await read()).status, 502)
  })
})

describe('GET and DELETE /sandbox/faults', () => {
  test('show what is left of each fault, and delete those of one customer', async () => {
    const neighbour = await sandbox.customer()
    const own = await inject({ kind: 'status', status: 503, times: 3 })
    const other = { customer_id: neighbour.customerId, kind: 'cut' }
    const { body } = await sandbox.control('POST', '/sandbox/faults', other)
    await read()
    assert.deepEqual(await faults(), { faults: [{ ...own, remaining: 2 }, body] })
    assert.deepEqual(await faults(`?customer_id=${neighbour.customerId}`), { faults: [body] })
    const path = `/sandbox/faults?customer_id=${as.customerId}`
    assert.equal((await sandbox.control('DELETE', path)).status, 204)
    assert.deepEqual(await faults(), { faults: [body] })
    assert.equal((await sandbox.control('DELETE', '/sandbox/faults')).status, 204)
    assert.deepEqual(await faults(), { faults: [] })
  })
})

describe('POST /sandbox/faults', () => {
  test('names what is wrong with a fault', async () => {
    const whole = { customer_id: as.customerId, kind: 'status', status: 503 }
    const cases: readonly (readonly [object, string])[] = [
      [
        { ...whole, kind: 'explode' },
        'kind must be status, delay, cut, truncated or expired_token',
      ],
      [{ ...whole, status: 501 }, 'status must be 408, 429, 500, 502, 503 or 504'],
      [{ ...whole, status: '503' }, 'status must be a whole number'],
      [{ ...whole, status: undefined }, 'status must be set for this kind'],
      [{ ...whole, kind: 'cut' }, 'status must not be set for a fault of kind cut'],
      [{ ...whole, kind: 'delay', status: undefined }, 'delay_ms must be set for this kind'],
      [{ ...whole, delay_ms: 30_001 }, 'delay_ms must be between 0 and 30000'],
      [{ ...whole, times: 0 }, 'times must be between 1 and 10000'],
      [
        { ...whole, status: 502, retry_after: 1 },
        'retry_after must not be set without the status 429 or 503',
      ],
      [
        { ...whole, kind: 'expired_token', status: undefined, operation: '/oauth2/token' },
        'kind must not be expired_token for /oauth2/token, which takes none',
      ],
      [{ kind: 'cut' }, 'customer_id must be set'],
    ]
    for (const [fault, detail] of cases) {
      const called = await sandbox.control('POST', '/sandbox/faults', fault)
      assert.deepEqual([called.status, called.body.detail], [400, detail])
      assert.equal(called.body.meta.errors[0].parameter, detail.split(' ')[0])
    }
    const mistyped = { ...whole, operation: 'listFiatAccount' }
    const { body } = await sandbox.control('POST', '/sandbox/faults', mistyped)
    assert.match(body.detail, /^operation must be getFiatAccount, .* getEvent or \/oauth2\/token$/)
    assertProblem(
      await sandbox.control('POST', '/sandbox/faults', { ...whole, customer_id: 'x' }),
      {
        status: 404,
        detail: "no customer found for customer_id: 'x'",
        instance: '/sandbox/faults',
      },
    )
  })

  test('refuses more faults than a customer may have', async () => {
    const fault = { customer_id: (await sandbox.customer()).customerId, kind: 'cut' }
    for (let at = 0; at < limitNamed('sandboxFaultsMax'); at += 1) {
      await sandbox.control('POST', '/sandbox/faults', fault)
    }
    assertProblem(await sandbox.control('POST', '/sandbox/faults', fault), {
      status: 409,
      detail: 'the customer has 100 faults; delete some with DELETE /sandbox/faults',
      instance: '/sandbox/faults',
    })
  })
})

test('one fault is deleted by its id, and the others stay', async () => {
  const [first, second] = [
    await inject({ kind: 'status', status: 503 }),
    await inject({ kind: 'status', status: 500 }),
  ]
  const path = `/sandbox/faults/${first.id}`
  const deleted = await sandbox.control('DELETE', path)
  assert.deepEqual([deleted.status, deleted.text], [204, ''])
  assert.deepEqual((await faults(`?customer_id=${as.customerId}`)).faults, [second])
  const again = { status: 404, detail: `no fault found for id: '${first.id}'`, instance: path }
  assertProblem(await sandbox.control('DELETE', path), again)
  assert.equal((await read()).status, 500)
  assert.equal((await read()).status, 200)
})
