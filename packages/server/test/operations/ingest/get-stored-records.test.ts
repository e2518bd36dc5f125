import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertProblem } from '../../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../../test/support/describe-service.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { take } from '../../../../../test/support/record-store.ts'
import { aDepositAddress, aFiatAccount, anId } from '../../../../../test/support/records.ts'

let token: string

const service = describeService({}, async () => {
  token = await operatorToken(service, 'support', ['ingest:read_record'])
})

const stored = (kind: string, id: string, headers = {}) =>
  service.call(`/ingest/v1/${kind}/${id}`, { token, headers })

describe('a stored record', () => {
  test('is answered as import accepts it, unmasked and with what no customer sees', async () => {
    const account = aFiatAccount({
      id: anId(1),
      customer_id: 'any',
      source_version: 7,
      ref_id: 'r1',
    })
    await take(service.parts.store, 'fiat-accounts', [account])
    const found = await stored('fiat-accounts', anId(1).toUpperCase())
    assert.equal(found.status, 200)
    assert.equal(found.headers.get('cache-control'), 'no-store')
    assert.match(found.headers.get('etag') ?? '', /^"[0-9a-z]+"$/)
    assert.deepEqual([found.body.customer_id, found.body.source_version], ['any', 7])
    const networks = JSON.stringify(found.body.fiat_network_instructions)
    assert.equal(networks, JSON.stringify(account.fiat_network_instructions))
    const again = await take(service.parts.store, 'fiat-accounts', [found.body])
    assert.deepEqual([again.faults, again.unchanged], [[], 1])
  })

  test('has a tag that changes with every version, and answers 304 to the current one', async () => {
    const address = aDepositAddress({ id: anId(2), customer_id: 'any', ref_id: 'r2' })
    await take(service.parts.store, 'deposit-addresses', [address])
    const etag = (await stored('deposit-addresses', anId(2))).headers.get('etag') ?? ''
    const held = { 'if-none-match': etag }
    assert.equal((await stored('deposit-addresses', anId(2), held)).status, 304)
    await take(service.parts.store, 'deposit-addresses', [{ ...address, ref_id: 'r3' }])
    const changed = await stored('deposit-addresses', anId(2), held)
    assert.deepEqual([changed.status, changed.body.ref_id], [200, 'r3'])
    await take(service.parts.store, 'deposit-addresses', [address])
    const back = await stored('deposit-addresses', anId(2), held)
    assert.equal(back.status, 200, 'a version that came back is another version')
  })

  test('is answered after its deletion too', async () => {
    const deleted = aFiatAccount({ id: anId(3), deleted_at: '2026-11-22T12:00:00Z', ref_id: 'r4' })
    await take(service.parts.store, 'fiat-accounts', [deleted])
    assert.equal((await stored('fiat-accounts', anId(3))).body.deleted_at, deleted.deleted_at)
  })

  test('is unknown under another kind, and an id that is none is a 400', async () => {
    assertProblem(await stored('statements', anId(1)), {
      status: 404,
      detail: `no statement found for id: '${anId(1)}'`,
      instance: `/ingest/v1/statements/${anId(1)}`,
    })
    assert.equal((await stored('statements', '7')).body.detail, "id must be uuid, given '7'")
  })

  test('needs its own scope, which no customer can have', async () => {
    const other = await operatorToken(service, 'payouts', ['ingest:consume_fee'])
    const path = `/ingest/v1/fiat-accounts/${anId(1)}`
    assert.equal((await service.call(path, { token: other })).status, 403)
    assert.equal((await service.call(path)).status, 403)
    assert.equal((await service.call(path, { as: null })).status, 401)
  })
})
