import type { RecordInput } from '../contract/resource.ts'
import { statementStatuses } from '../resources/statement.ts'
import { printInstant } from '../values/instant.ts'
import { cycle, drawDigits, drawNumber, drawUuid } from './seeded.ts'
import { fixtureIds, refId } from './story.ts'

/** Two statements a month, so that periods tie, from October 2026 backwards. */
export function statements(customer: string, count: number): RecordInput[] {
  return Array.from({ length: count }, (_, at) => statement(customer, at))
}

function statement(customer: string, at: number): RecordInput {
  const isFirst = customer === 'acme' && at === 0
  const name = `${customer} statement ${at}`
  const month = 9 - Math.floor(at / 2)
  const periodEnd = firstOfMonth(month + 1)
  const status = isFirst ? 'STATEMENT_STATUS_PAID' : cycle(statementStatuses, at)
  const isPaid = status === 'STATEMENT_STATUS_PAID'
  const balances = balancesOf(name, at, isPaid)
  return {
    id: isFirst ? fixtureIds.statements : drawUuid(name),
    customer_id: customer,
    type: 'STATEMENT_TYPE_USDG_REWARD',
    product: 'USDG_REWARDS',
    status,
    statement_balances: balances,
    period_start: firstOfMonth(month),
    period_end: periodEnd,
    created_at: periodEnd,
    ...(at % 3 !== 2 && { ref_id: refId(customer, 'statement', at) }),
    ...(balances[0] !== undefined && { metadata: { total_amount: balances[0].total_amount_owed } }),
    ...((isPaid || status === 'STATEMENT_STATUS_GENERATED') && { generated_at: periodEnd }),
    ...(isPaid && { paid_at: periodEnd.replace('T00:00:00Z', 'T15:30:00.5Z') }),
  }
}

/** Month 0 is January 2026. Earlier months are negative. */
const firstOfMonth = (month: number): string =>
  printInstant(BigInt(Date.UTC(2026, month, 1)) * 1000n)

type Balance = {
  readonly asset: string
  readonly amount_paid: string
  readonly total_amount_owed: string
}

function balancesOf(name: string, at: number, isPaid: boolean): Balance[] {
  return Array.from({ length: at % 4 === 3 ? 0 : 1 + (at % 2) }, (_, which) => {
    const owed = `${drawNumber(`${name} owed`, 100_000)}.${drawDigits(`${name} cents ${which}`, 6)}`
    return {
      asset: cycle(['USDG', 'USDC'], which),
      amount_paid: isPaid ? owed : '0',
      total_amount_owed: owed,
    }
  })
}
