import {
  type ExactDecimal,
  getOrInsert,
  minus,
  parseInstant,
  plus,
  printExact,
  systemTime,
  turn,
  zero,
} from '@bursar/base'
import {
  type AssetAmounts,
  amountsOf,
  assetOfPlace,
  contractLimits,
  type RecordInput,
  statementOrders,
} from '@bursar/contract'
import { type AcrossPlace, type AcrossRecords, recordsLimits } from '@bursar/records'

type Asked = {
  readonly customerId: string | undefined
  readonly now: bigint
  /** Of `Time.elapsedMs`. What is not read by then is left out of the sums. */
  readonly deadline: number
}

/** The shortfalls of each asset: of all customers or of one, the largest ones first. */
export async function sumShortfalls(statements: AcrossRecords, asked: Asked) {
  const starts = await statements.startsOf(statementOrders.shortfall, asked.customerId)
  const sums: object[] = []
  for (const start of starts) {
    const sum = await sumOf(statements, start, asked)
    if (sum !== undefined) sums.push(sum)
  }
  return sums
}

async function sumOf(statements: AcrossRecords, start: string, asked: Asked) {
  const { customerId, now, deadline } = asked
  const asset = assetOfPlace(start)
  const total = openSum()
  const byCustomer = new Map<string, Sum>()
  const byPeriod = new Map<string, Sum>()
  let after: AcrossPlace | undefined
  let read = 0
  let oldest: string | undefined
  do {
    const page = await statements.byTerm({
      customerId,
      status: undefined,
      order: 'DESC',
      limit: contractLimits.acrossPageMax,
      term: statementOrders.shortfall,
      start,
      now,
      after,
    })
    for (const { customerId: owner, body } of page.records) {
      const statement: RecordInput = JSON.parse(body)
      const amounts = amountsOf(statement).find((one) => one.asset === asset)
      // It was changed since its place was read.
      if (amounts === undefined || amounts.shortfall.units <= 0n) continue
      add(total, amounts)
      add(sumIn(byCustomer, owner), amounts)
      add(sumIn(byPeriod, String(statement.period_start)), amounts)
      const end = String(statement.period_end)
      if (oldest === undefined || compareInstants(end, oldest) < 0) oldest = end
    }
    read += page.records.length
    after = page.next
    // A page takes some milliseconds, after which other requests have their turn.
    await turn()
  } while (
    after !== undefined &&
    read < recordsLimits.attentionRowsMax &&
    systemTime.elapsedMs() < deadline
  )
  if (total.statements === 0 && after === undefined) return undefined
  return {
    asset,
    ...describeSum(total),
    customers: byCustomer.size,
    ...(oldest !== undefined && { oldest_period_end: oldest }),
    more: after !== undefined,
    by_customer: largestOf(byCustomer).map(([customer_id, { shortfall, statements: count }]) => ({
      customer_id,
      shortfall: printExact(shortfall),
      statements: count,
    })),
    by_period: [...byPeriod]
      .toSorted(([one], [other]) => compareInstants(other, one))
      .slice(0, contractLimits.attentionPeriodsMax)
      .map(([period_start, sum]) => ({ period_start, ...describeSum(sum) })),
  }
}

type Sum = { owed: ExactDecimal; paid: ExactDecimal; shortfall: ExactDecimal; statements: number }

const openSum = (): Sum => ({ owed: zero, paid: zero, shortfall: zero, statements: 0 })

function add(sum: Sum, { owed, paid, shortfall }: AssetAmounts): void {
  sum.owed = plus(sum.owed, owed)
  sum.paid = plus(sum.paid, paid)
  sum.shortfall = plus(sum.shortfall, shortfall)
  sum.statements += 1
}

const sumIn = (sums: Map<string, Sum>, key: string): Sum => getOrInsert(sums, key, openSum)

const describeSum = ({ owed, paid, shortfall, statements }: Sum) => ({
  owed: printExact(owed),
  paid: printExact(paid),
  shortfall: printExact(shortfall),
  statements,
})

const largestOf = (sums: ReadonlyMap<string, Sum>) =>
  [...sums]
    .toSorted(([, one], [, other]) => signOf(minus(other.shortfall, one.shortfall)))
    .slice(0, contractLimits.attentionCustomersMax)

const signOf = ({ units }: ExactDecimal): number => (units < 0n ? -1 : units > 0n ? 1 : 0)

const microsOf = (instant: string): bigint => parseInstant(instant)?.micros ?? 0n

/** Printed instants differ in their fractions, so their texts do not sort. */
const compareInstants = (one: string, other: string): number => {
  const difference = microsOf(one) - microsOf(other)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}
