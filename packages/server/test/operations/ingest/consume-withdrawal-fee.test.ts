import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ingestOperations } from '@bursar/contract'
import { assertProblem, errorOf } from '../../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../../test/support/describe-service.ts'
import { acme } from '../../../../../test/support/harness.ts'
import { pathOf, quoteFee, reads, withdrawal } from '../../../../../test/support/operation-calls.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { until } from '../../../../../test/support/until.ts'
import { announceConsumed } from '../../../src/works/withdrawal-fees/announce-consumed.ts'

const noon = BigInt(Date.parse('2026-11-22T12:00:00Z')) * 1000n
let aheadSeconds = 0n
let operator: string

const service = describeService({ clock: () => noon + aheadSeconds * 1_000_000n }, async () => {
  operator = await operatorToken(service, 'payouts', ['ingest:consume_fee'])
})

const quote = () => quoteFee(service)

const payout = { customer_id: 'acme', ...withdrawal, withdrawal: 'payout-7' }

const instanceOf = (id: string) => `/ingest/v1/fees/${id}/consume`

const consume = (id: string, body: unknown = payout, token: string | null = operator) =>
  service.call(instanceOf(id), {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(token === null ? { as: null } : { token }),
  })

const conflict = (id: string, type: string, detail: string, meta: unknown) =>
  ({ type, status: 409, detail, instance: instanceOf(id), meta }) as const

test('answers the fee with its withdrawal, and the same again when the request is repeated', async () => {
  const id = await quote()
  const first = await consume(id.toUpperCase())
  assert.equal(first.status, 200)
  assert.equal(first.headers.get('cache-control'), 'no-store')
  assert.deepEqual(first.body, {
    id,
    customer_id: 'acme',
    ...withdrawal,
    fee: '2.99',
    total: '102.99',
    created_at: '2026-11-22T12:00:00Z',
    expires_at: '2026-11-22T12:10:00Z',
    withdrawal: 'payout-7',
    consumed_at: '2026-11-22T12:00:00Z',
  })
  assert.deepEqual((await consume(id)).body, first.body)
})

test('the customer has one event of it, also after it was consumed again', async () => {
  const id = await quote()
  assert.equal((await consume(id)).status, 200)
  const eventsOf = async () => {
    const { body } = await service.call('/v2/events?type=crypto_withdrawal_fee.consumed')
    return body.items.filter(({ object }: { object: { id: string } }) => object.id === id)
  }
  await until(async () => (await eventsOf()).length > 0)
  assert.equal((await consume(id)).status, 200)
  const deps = { quotes: service.parts.quotes, store: service.parts.store }
  await announceConsumed(deps)
  const [event, ...others] = await eventsOf()
  const { id: _, created_at: at, as_of: asOf, ...rest } = event
  assert.deepEqual(
    [others, rest, at === asOf],
    [
      [],
      {
        type: 'crypto_withdrawal_fee.consumed',
        object_type: 'crypto_withdrawal_fee',
        object: { id, kind: 'fees' },
      },
      true,
    ],
  )
})

test('400 names every invalid member in one answer', async () => {
  const malformed = await consume('7')
  assert.equal(malformed.body.detail, "id must be uuid, given '7'")
  assert.deepEqual(malformed.body.meta, { errors: [errorOf('id', "must be uuid, given '7'")] })
  const { status, body } = await consume(await quote(), { ...payout, amount: 1, withdrawal: '' })
  assert.equal(status, 400)
  assert.equal(
    body.detail,
    'amount must be a JSON string; withdrawal must be 1 to 200 characters long',
  )
})

test('400 for a lone surrogate and for a member that is given twice', async () => {
  const id = await quote()
  const lone = await consume(id, { ...payout, withdrawal: '\udc00' })
  assert.deepEqual(lone.body.meta, {
    errors: [errorOf('withdrawal', 'must be well-formed Unicode')],
  })
  const text = JSON.stringify(payout).replace('{', '{"amount":"1",')
  const twice = await consume(id, text)
  assert.deepEqual([lone.status, twice.status], [400, 400])
  assert.deepEqual(twice.body.meta, { errors: [errorOf('amount', 'must be given once')] })
})

test('401 without a token, before id and body are validated', async () => {
  assertProblem(await consume('7', [], null), {
    status: 401,
    detail: 'no authorization header set',
    instance: instanceOf('7'),
    headers: { 'www-authenticate': 'Bearer' },
  })
})

test('403 for the token of a customer', async () => {
  const { status, body } = await consume('7', [], await service.tokenOf(acme))
  assert.equal(status, 403)
  assert.match(body.detail, /required one of '\[ingest:consume_fee\]'$/)
})

test('404 for an unknown fee and for the fee of another customer alike', async () => {
  const unknown = '01a1fc67-0000-7000-8000-000000000000'
  const foreign = await quote()
  for (const [id, customer_id] of [
    [unknown, 'acme'],
    [foreign, 'borealis'],
  ] as const) {
    const detail = `no guaranteed fee found for id: '${id}'`
    const called = await consume(id, { ...payout, customer_id })
    assertProblem(called, { status: 404, detail, instance: instanceOf(id) }, customer_id)
  }
})

describe('409', () => {
  test('names the members that differ and what was quoted', async () => {
    const id = await quote()
    const called = await consume(id, { ...payout, amount: '100.5', asset: 'USDG' })
    const detail = 'the fee was quoted for another withdrawal: asset, amount differ'
    const meta = { mismatched: ['asset', 'amount'], quoted: withdrawal }
    assertProblem(called, conflict(id, '/problems/fee-mismatched', detail, meta))
  })

  test('names the withdrawal that consumed the fee', async () => {
    const id = await quote()
    await consume(id)
    const called = await consume(id, { ...payout, withdrawal: 'payout-8' })
    const detail = 'the fee was consumed by another withdrawal'
    const meta = { withdrawal: 'payout-7', consumed_at: '2026-11-22T12:00:00Z' }
    assertProblem(called, conflict(id, '/problems/fee-consumed', detail, meta))
  })

  test('names the time at which the fee expired', async () => {
    const id = await quote()
    const setAhead = async (seconds: bigint) => {
      aheadSeconds = seconds
      await service.clockChanged()
      await service.parts.oauth.refresh()
    }
    await setAhead(600n)
    const called = await consume(id)
    await setAhead(0n)
    const detail = 'the fee was guaranteed until 2026-11-22T12:10:00Z'
    const meta = { expires_at: '2026-11-22T12:10:00Z' }
    assertProblem(called, conflict(id, '/problems/fee-expired', detail, meta))
  })
})

test('409 for a fee from before a restore, until the fees are reconciled', async () => {
  const id = await quote()
  const { credentials, clock, oauth, quotes } = service.parts
  // A running service has seen the restore; its tokens are those of clients that are confirmed.
  await credentials.startRecovery(
    { restoredTo: noon, restoredAt: noon, quotesBefore: noon + 1n },
    0n,
  )
  await credentials.confirmClients(clock())
  await oauth.refresh()
  const called = await consume(id)
  const detail =
    'a withdrawal may have consumed the fee after the backup that was restored; compare it with the system that pays, then run `npm run -s bursar -- reconcile --reconciled`'
  const meta = { restored_at: '2026-11-22T12:00:00Z' }
  assertProblem(called, conflict(id, '/problems/fee-not-reconciled', detail, meta))
  assert.equal((await quotes.operator.find(id))?.consumption, undefined)
  await credentials.endRecovery(clock())
  assert.equal((await consume(id)).status, 200)
})

test('413 for a body over 16 KiB', async () => {
  const { status } = await consume(await quote(), { ...payout, memo: 'x'.repeat(16 * 1024) })
  assert.equal(status, 413)
})

test('the token of an operator is refused by every read of /v2', async () => {
  for (const operation of reads) {
    const called = await service.call(pathOf(operation), { token: operator })
    assert.equal(called.status, 401, operation.id)
  }
})

test('the client of a customer is not granted an operator’s scope', async () => {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    scope: 'ingest:consume_fee transfer:read_fiat_account',
  })
  const response = await fetch(`${service.url}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${acme.clientId}:${acme.clientSecret}`)}` },
    body,
  })
  assert.equal(response.status, 400)
  assert.equal(((await response.json()) as { error: string }).error, 'invalid_scope')
})

test('is described in /ingest/v1/openapi.json and not in /openapi.json', async () => {
  const own = await service.call('/ingest/v1/openapi.json', { as: null })
  const customers = await service.call('/openapi.json', { as: null })
  const paths = ingestOperations.map(({ path }) => path.replaceAll(/:([a-z_]+)/g, '{$1}'))
  assert.deepEqual(Object.keys(own.body.paths), [...new Set(paths)])
  assert.doesNotMatch(customers.text, /ingest/)
})
