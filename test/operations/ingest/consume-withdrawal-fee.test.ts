import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSampleClient } from '../../../src/oauth/clients/clients.ts'
import { systemRandom } from '../../../src/vault/random.ts'
import { acme, fetchToken, startTestService, type TestService } from '../../support/harness.ts'
import { pathOf, reads, withdrawal } from '../../support/operation-calls.ts'

const noon = BigInt(Date.parse('2026-11-22T12:00:00Z')) * 1000n
let aheadSeconds = 0n
let service: TestService
let operator: string

before(async () => {
  service = await startTestService({ clock: () => noon + aheadSeconds * 1_000_000n })
  operator = await operatorToken(['ingest:consume_fee'])
})
after(() => service.stop())

async function operatorToken(scopes: readonly string[]): Promise<string> {
  const { credentials, keyring, clock, oauth } = service.parts
  const [id, secret] = ['payouts', 'payouts_secret']
  await createSampleClient(
    { store: credentials, keyring, clock, random: systemRandom },
    { id, secret, customerId: null, name: 'Payouts', scopes },
  )
  await oauth.refresh()
  return fetchToken(service.url, { customerId: '', clientId: id, clientSecret: secret })
}

const quote = async (): Promise<string> => {
  const { body } = await service.call('/v2/transfer/fees/crypto-withdrawal', {
    method: 'POST',
    body: JSON.stringify(withdrawal),
  })
  return body.id
}

const asked = { customer_id: 'acme', ...withdrawal, withdrawal: 'payout-7' }

const consume = (id: string, body: unknown = asked, token: string | null = operator) =>
  service.call(`/ingest/v1/fees/${id}/consume`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...(token === null ? { as: null } : { token }),
  })

const told = ({ type, status, detail, meta }: Record<string, unknown>) => ({
  ...{ type, status, detail },
  ...(meta !== undefined && { meta }),
})

test('200 with the fee and all that it is bound to, and the same to the same withdrawal', async () => {
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

test('400 for what is not of its form, every fault at once', async () => {
  const malformed = await consume('7')
  assert.equal(malformed.body.detail, "id must be uuid, given '7'")
  const { status, body } = await consume(await quote(), { ...asked, amount: 1, withdrawal: '' })
  assert.equal(status, 400)
  assert.equal(
    body.detail,
    'amount must be a JSON string; withdrawal must be 1 to 200 characters long',
  )
})

test('401 without a token, before anything else is judged', async () => {
  const { status, headers } = await consume('7', [], null)
  assert.equal(status, 401)
  assert.equal(headers.get('www-authenticate'), 'Bearer')
})

test('403 for every client of a customer', async () => {
  const { status, body } = await consume('7', [], await service.tokenOf(acme))
  assert.equal(status, 403)
  assert.match(body.detail, /required one of '\[ingest:consume_fee\]'$/)
})

describe('404', () => {
  test('for a fee that is not there, and the same for another customer’s', async () => {
    const unknown = '01a1fc67-0000-7000-8000-000000000000'
    const id = await quote()
    const answers = [
      await consume(unknown),
      await consume(id, { ...asked, customer_id: 'borealis' }),
    ]
    for (const [at, given] of [unknown, id].entries()) {
      assert.deepEqual(told(answers[at]?.body), {
        type: 'about:blank',
        status: 404,
        detail: `no guaranteed fee found for id: '${given}'`,
      })
    }
  })
})

describe('409', () => {
  test('names what differs and what was quoted', async () => {
    const { body } = await consume(await quote(), { ...asked, amount: '100.5', asset: 'USDG' })
    assert.deepEqual(told(body), {
      type: '/problems/fee-mismatched',
      status: 409,
      detail: 'the fee was quoted for another withdrawal: asset, amount differ',
      meta: { mismatched: ['asset', 'amount'], quoted: withdrawal },
    })
  })

  test('names the withdrawal that has the fee', async () => {
    const id = await quote()
    await consume(id)
    const { body } = await consume(id, { ...asked, withdrawal: 'payout-8' })
    assert.deepEqual(told(body), {
      type: '/problems/fee-consumed',
      status: 409,
      detail: 'the fee was consumed by another withdrawal',
      meta: { withdrawal: 'payout-7', consumed_at: '2026-11-22T12:00:00Z' },
    })
  })

  test('says when the fee ended', async () => {
    const id = await quote()
    aheadSeconds = 600n
    await service.parts.oauth.refresh()
    const { body } = await consume(id)
    aheadSeconds = 0n
    await service.parts.oauth.refresh()
    assert.deepEqual(told(body), {
      type: '/problems/fee-expired',
      status: 409,
      detail: 'the fee was guaranteed until 2026-11-22T12:10:00Z',
      meta: { expires_at: '2026-11-22T12:10:00Z' },
    })
  })
})

test('413 for a body over 16 KiB', async () => {
  const { status } = await consume(await quote(), { ...asked, memo: 'x'.repeat(16 * 1024) })
  assert.equal(status, 413)
})

test('an operator’s client reads nothing through /v2', async () => {
  for (const operation of reads) {
    assert.equal((await service.call(pathOf(operation), { token: operator })).status, 401)
  }
})

test('a customer’s client is never granted an operator’s scope', async () => {
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

test('has a document of its own; the customers’ has nothing of it', async () => {
  const own = await service.call('/ingest/openapi.json', { as: null })
  const customers = await service.call('/openapi.json', { as: null })
  assert.deepEqual(Object.keys(own.body.paths), ['/ingest/v1/fees/{id}/consume'])
  assert.doesNotMatch(customers.text, /ingest/)
})
