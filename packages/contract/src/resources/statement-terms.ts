import {
  type ExactDecimal,
  instantKey,
  minus,
  parseInstant,
  plus,
  readExact,
  sortKeyOf,
  zero,
} from '@bursar/base'
import type { RecordInput, Term } from '../resource.ts'

/** The terms by which statements of a status are listed, apart from their own order. */
export const statementOrders = {
  created: (status: string) => `created ${shortOf(status)}`,
  /** Sorted by asset, and then by amount. */
  shortfall: (status: string) => `short ${shortOf(status)}`,
} as const

/** What the places of the shortfalls in an asset start with. An asset may have any characters. */
export const startOfAsset = (asset: string): string =>
  `${encodeURIComponent(asset.toWellFormed())} `

/** The asset of such a place. */
export const assetOfPlace = (sort: string): string =>
  decodeURIComponent(sort.slice(0, sort.indexOf(' ')))

/** `STATEMENT_STATUS_PAID` → `PAID`. */
const shortOf = (status: string): string => status.replace('STATEMENT_STATUS_', '')

/**
 * The place of a statement by its creation, and one by its shortfall in each asset that has one. A
 * shortfall of a statement that is not paid counts once its period has ended.
 */
export function statementTerms(statement: RecordInput): readonly Term[] {
  const status = String(statement.status)
  const isPaid = status === 'STATEMENT_STATUS_PAID'
  const since = isPaid ? {} : { since: microsOf(statement.period_end) }
  const shortfalls = amountsOf(statement).filter(({ shortfall }) => shortfall.units > 0n)
  return [
    { name: statementOrders.created(status), sort: instantKey(microsOf(statement.created_at)) },
    ...shortfalls.map(({ asset, shortfall }) => ({
      name: statementOrders.shortfall(status),
      sort: `${startOfAsset(asset)}${sortKeyOf(shortfall)}`,
      ...since,
    })),
  ]
}

export type AssetAmounts = {
  readonly asset: string
  readonly owed: ExactDecimal
  readonly paid: ExactDecimal
  readonly shortfall: ExactDecimal
}

type Balance = Readonly<Record<'asset' | 'amount_paid' | 'total_amount_owed', string>>

/** What a statement owed and paid in each asset, of which it may have several balances. */
export function amountsOf({ statement_balances }: RecordInput): readonly AssetAmounts[] {
  const byAsset = Map.groupBy(statement_balances as readonly Balance[], ({ asset }) => asset)
  return [...byAsset].map(([asset, balances]) => {
    const sumOf = (member: 'amount_paid' | 'total_amount_owed') =>
      balances.reduce((sum, balance) => plus(sum, readExact(balance[member])), zero)
    const [owed, paid] = [sumOf('total_amount_owed'), sumOf('amount_paid')]
    return { asset, owed, paid, shortfall: minus(owed, paid) }
  })
}

const microsOf = (instant: unknown): bigint => parseInstant(String(instant))?.micros ?? 0n
