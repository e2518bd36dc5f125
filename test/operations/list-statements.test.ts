import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertFault, assertForbidden, assertPage, assertUnauthorized } from '../support/expect.ts'
import { acme, startTestService, type TestService } from '../support/harness.ts'

const path = '/v2/statements'
const id = '44444444-4444-4444-8444-444444444444'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

const statement = {
  id,
  ref_id: 'acme-statement-0001',
  customer_id: 'acme',
  type: 'STATEMENT_TYPE_USDG_REWARD',
  product: 'USDG_REWARDS',
  status: 'STATEMENT_STATUS_PAID',
  metadata: { total_amount: '27951.652136' },
  statement_balances: [
    { asset: 'USDG', amount_paid: '27951.652136', total_amount_owed: '27951.652136' },
  ],
  period_start: '2026-10-01T00:00:00Z',
  period_end: '2026-11-01T00:00:00Z',
  generated_at: '2026-11-01T00:00:00Z',
  paid_at: '2026-11-01T15:30:00.500Z',
  created_at: '2026-11-01T00:00:00Z',
}

test('200: answers a statement whole', async () => {
  const called = await service.call(`${path}?customer_id=acme&statement_ids=${id}`)
  assertPage(called, { statements: [statement] })
})

test('200: filters by ref_id and status together', async () => {
  const paid = `${path}?customer_id=acme&ref_ids=acme-statement-0001&statuses=`
  assertPage(await service.call(`${paid}STATEMENT_STATUS_PAID`), { statements: [statement] })
  assertPage(await service.call(`${paid}STATEMENT_STATUS_INITIATED`), { statements: [] })
})

test('200: orders by period start, latest first', async () => {
  const called = await service.call(`${path}?customer_id=acme&limit=1000`)
  const starts = called.body.statements.map((one: { period_start: string }) => one.period_start)
  assert.equal(starts.length, 240)
  assert.deepEqual(starts, starts.toSorted().toReversed())
})

test('200: shows nothing of a customer who is not the caller', async () => {
  assertPage(await service.call(`${path}?customer_id=borealis`), { statements: [] })
  assertPage(await service.call(`${path}?customer_id=nobody`), { statements: [] })
})

test('400: wants the customer', async () => {
  assertFault(await service.call(path), path, 'customer_id', 'must be set')
})

test('400: tells a status that there is none of', async () => {
  const called = await service.call(`${path}?customer_id=acme&statuses=PAID`)
  assertFault(
    called,
    path,
    'statuses',
    'must be STATEMENT_STATUS_UNSPECIFIED, STATEMENT_STATUS_INITIATED, STATEMENT_STATUS_GENERATED or STATEMENT_STATUS_PAID',
  )
})

test('401: wants a token', async () => {
  assertUnauthorized(await service.call(path, { as: null }), path)
})

test('403: wants its scope', async () => {
  const token = await service.tokenOf(acme, 'transfer:read_deposit_address')
  assertForbidden(
    await service.call(path, { token }),
    path,
    'transfer:read_deposit_address',
    'statements:read_statement',
  )
})
