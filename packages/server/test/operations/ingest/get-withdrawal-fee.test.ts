import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertProblem } from '../../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../../test/support/describe-service.ts'
import { quoteFee, withdrawal } from '../../../../../test/support/operation-calls.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { anId } from '../../../../../test/support/records.ts'

const noon = BigInt(Date.parse('2026-11-22T12:00:00Z')) * 1000n
let aheadSeconds = 0n
let payouts: string
let support: string

const service = describeService({ clock: () => noon + aheadSeconds * 1_000_000n }, async () => {
  payouts = await operatorToken(service, 'payouts', ['ingest:consume_fee'])
  support = await operatorToken(service, 'support', ['ingest:search'])
})

const quote = () => quoteFee(service)
const find = (id: string, token = support) => service.call(`/ingest/v1/fees/${id}`, { token })

/** The check of tokens must not find its clients too old. */
async function moveTo(seconds: bigint): Promise<void> {
  aheadSeconds = seconds
  await service.clockChanged()
  await service.parts.oauth.refresh()
}

test('answers the terms of a fee and what has become of it', async () => {
  const id = await quote()
  const open = await find(id.toUpperCase())
  assert.deepEqual([open.status, open.headers.get('cache-control')], [200, 'no-store'])
  const terms = {
    id,
    customer_id: 'acme',
    ...withdrawal,
    fee: '2.99',
    total: '102.99',
    created_at: '2026-11-22T12:00:00Z',
    expires_at: '2026-11-22T12:10:00Z',
  }
  assert.deepEqual(open.body, { ...terms, state: 'OPEN' })
  const consumed = await quote()
  const payout = { customer_id: 'acme', ...withdrawal, withdrawal: 'payout-7' }
  const path = `/ingest/v1/fees/${consumed}/consume`
  const body = JSON.stringify(payout)
  assert.equal((await service.call(path, { method: 'POST', body, token: payouts })).status, 200)
  await moveTo(600n)
  assert.deepEqual((await find(id)).body, { ...terms, state: 'EXPIRED' })
  const { state, withdrawal: reference, consumed_at } = (await find(consumed)).body
  assert.deepEqual([state, reference, consumed_at], ['CONSUMED', 'payout-7', terms.created_at])
  await moveTo(0n)
})

test('answers 404 for an unknown fee and 400 for an id that is none', async () => {
  assertProblem(await find(anId(1)), {
    status: 404,
    detail: `no fee found for id: '${anId(1)}'`,
    instance: `/ingest/v1/fees/${anId(1)}`,
  })
  assert.equal((await find('7')).body.detail, "id must be uuid, given '7'")
})

test('needs the scope to search, which no customer can have', async () => {
  const id = await quote()
  assert.equal((await find(id, payouts)).status, 403)
  const ofCustomer = await service.call(`/ingest/v1/fees/${id}`)
  assert.equal(ofCustomer.status, 403)
})
