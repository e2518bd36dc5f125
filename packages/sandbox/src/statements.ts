import { DAY_MICROS, HOUR_MICROS, largest, printDecimal, printInstant } from '@bursar/base'
import type { RecordInput } from '@bursar/contract'
import { type Life, lifeOf, type Moment } from './lives.ts'
import { cycle, drawNumber } from './seeded.ts'
import { firstOfMonth, type Story } from './story.ts'

/** Acme and Borealis have two statements a month, so that periods tie; others have one. */
export function statements(story: Story, count: number, perMonth: number): Life[] {
  return Array.from({ length: count }, (_, at) =>
    statement(story, at, { perMonth, isOldest: at === count - 1 }),
  )
}

type Place = { readonly perMonth: number; readonly isOldest: boolean }

function statement(story: Story, at: number, { perMonth, isOldest }: Place): Life {
  const month = story.lastMonth - Math.floor(at / perMonth)
  const periodEnd = firstOfMonth(month + 1)
  // One was forgotten, and created two months late.
  const isLate = at === 3 * perMonth + 1
  const createdAt = isLate ? firstOfMonth(month + 3) + 9n * HOUR_MICROS : periodEnd
  const fate = fateOf(story, at)
  const owed = owedOf(story, at, perMonth)
  const recordAs = (status: string, paid: readonly bigint[], times: RecordInput) => () => ({
    id: story.idOf('statements', at),
    customer_id: story.customer,
    type: 'STATEMENT_TYPE_USDG_REWARD',
    product: 'USDG_REWARDS',
    status: `STATEMENT_STATUS_${status}`,
    statement_balances: owed.map((units, which) => ({
      asset: cycle(['USDG', 'USDC'], which),
      amount_paid: printDecimal(paid[which] ?? 0n, 6),
      total_amount_owed: printDecimal(units, 6),
    })),
    period_start: printInstant(firstOfMonth(month)),
    period_end: printInstant(periodEnd),
    created_at: printInstant(createdAt),
    ...(at % 3 !== 2 && { ref_id: story.refId('statement', at) }),
    ...(owed[0] !== undefined && { metadata: { total_amount: printDecimal(owed[0], 6) } }),
    ...times,
  })
  const paid = fate === 'short' ? owed.map((units) => partOf(story, at, units)) : owed
  // The oldest came from an earlier system, whose statuses are unknown.
  if (isOldest) {
    return lifeOf(story, [{ happenedAt: createdAt, record: recordAs('UNSPECIFIED', paid, {}) }])
  }
  const generatedAt = createdAt + 30n * HOUR_MICROS
  const paidAt = createdAt + 4n * DAY_MICROS + 15n * HOUR_MICROS + 1_800_500_000n
  const generated = { generated_at: printInstant(generatedAt) }
  const happened: readonly Moment[] = [
    { happenedAt: createdAt, record: recordAs('INITIATED', [], {}) },
    { happenedAt: generatedAt, record: recordAs('GENERATED', [], generated) },
    {
      happenedAt: paidAt,
      record: recordAs('PAID', paid, { ...generated, paid_at: printInstant(paidAt) }),
    },
  ]
  const steps = { initiated: 1, generated: 2, paid: 3, short: 3 }[fate]
  const moments = happened.slice(0, steps).filter(({ happenedAt }) => happenedAt <= story.until)
  // Each step is sent by itself, two minutes later.
  const sentAt = (at: bigint) => largest(story.keptSince, at + 120_000_000n)
  return lifeOf({ sentAt }, moments)
}

/** Most are paid, some in part. Of those that are not, the first one is not generated either. */
function fateOf({ troubles: { short, unpaid } }: Story, at: number) {
  if (unpaid.includes(at)) return at === unpaid[0] ? 'initiated' : 'generated'
  return short.includes(at) ? 'short' : 'paid'
}

/** Rewards of the order of the customer, exact to six decimals, and in few also a second asset. */
function owedOf(story: Story, at: number, perMonth: number): readonly bigint[] {
  // Nothing was owed in this one.
  if (at % 48 === 47 || (perMonth === 2 && at === 3)) return []
  const name = `${story.customer} statement ${at}`
  const percent = BigInt(70 + drawNumber(`${name} owed`, 55))
  const units = BigInt(drawNumber(`${name} units`, 1_000_000_000))
  const owed = BigInt(story.owedTokens) * 10_000n * percent + units
  return at % 6 === 1 ? [owed, owed / 7n] : [owed]
}

/** Two fifths or more of a sum, to the quarter of a token. */
function partOf({ customer }: Story, at: number, units: bigint): bigint {
  const paid = (units * BigInt(40 + drawNumber(`${customer} part ${at}`, 58))) / 100n
  return paid - (paid % 250_000n)
}
