import { test } from 'node:test'
import { assertPage } from '../support/assert-answer.ts'
import { describeService } from '../support/describe-service.ts'

const path = '/v2/statements'
const id = '44444444-4444-4444-8444-444444444444'

const service = describeService()

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

test('answers the whole statement', async () => {
  const called = await service.call(`${path}?customer_id=acme&statement_ids=${id}`)
  assertPage(called, { statements: [statement] })
})

test('filters by ref_ids and statuses together', async () => {
  const paid = `${path}?customer_id=acme&ref_ids=acme-statement-0001&statuses=`
  assertPage(await service.call(`${paid}STATEMENT_STATUS_PAID`), { statements: [statement] })
  assertPage(await service.call(`${paid}STATEMENT_STATUS_INITIATED`), { statements: [] })
})
