import { compareAmounts, subtract } from '../values/amounts.ts'
import type { RecordData } from './kind.ts'

/** What a statement owes and has paid in one asset. */
export type Balance = {
  readonly asset: string
  readonly amount_paid: string
  readonly total_amount_owed: string
}

export const balancesOf = ({ statement_balances: balances }: RecordData): readonly Balance[] =>
  Array.isArray(balances) ? balances : []

export const shortfallOf = ({ total_amount_owed: owed, amount_paid: paid }: Balance): string => {
  const missing = subtract(owed, paid)
  return compareAmounts(missing, '0') > 0 ? missing : '0'
}

/** A paid statement whose balance is short was paid in part. The console alone says so. */
export function statementStatus(record: RecordData): string {
  const isShort = balancesOf(record).some((balance) => shortfallOf(balance) !== '0')
  return record.status === 'STATEMENT_STATUS_PAID' && isShort
    ? 'PAID_IN_PART'
    : String(record.status)
}
