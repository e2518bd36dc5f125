import { Status } from '../values/status.tsx'
import { Time } from '../values/time.tsx'
import { compareAmounts, grouped, largestOf, subtract } from './amounts.ts'
import type { ColumnOf, RecordData } from './kind.ts'
import { memberText } from './record-members.ts'

export const member = (name: string, title: string, path = name): ColumnOf => ({
  name,
  title,
  text: (record) => memberText(record, path),
})

export const extra = (name: string, title: string, path = name): ColumnOf => ({
  ...member(name, title, path),
  isExtra: true,
})

export const time = (name: string, title: string): ColumnOf => ({
  ...member(name, title),
  cell: (record) => <Time at={record[name]} />,
})

const timeOf = (record: RecordData) => String(record.created_at ?? '')

/** What has waited longest comes first. */
const compareTimes = (one: RecordData, other: RecordData) =>
  timeOf(one).localeCompare(timeOf(other))

/** Statuses that need somebody come first. */
export const status = (order: readonly string[]): ColumnOf => {
  const rank = ({ status: own }: RecordData) => order.indexOf(String(own))
  return {
    ...member('status', 'Status'),
    cell: (record) => <Status value={record.status} />,
    compare: (one, other) => rank(one) - rank(other) || compareTimes(one, other),
  }
}

/** Empty for a live record. */
export const deleted: ColumnOf = {
  name: 'deleted',
  title: 'Deleted',
  text: ({ is_deleted: isDeleted }) => (isDeleted === true ? 'deleted' : ''),
  cell: ({ is_deleted: isDeleted }) => (isDeleted === true ? <Status value="DELETED" /> : ''),
}

export const amount = (name: string, title: string): ColumnOf => ({
  ...member(name, title),
  cell: (record) => grouped(memberText(record, name)),
  isNumber: true,
  compare: (one, other) => compareAmounts(memberText(one, name), memberText(other, name)),
})

const DAY_MS = 86_400_000
const daysOf = ({ created_at: at }: RecordData) => (Date.now() - Date.parse(String(at))) / DAY_MS

/** In whole days, by the clock of the browser. */
export const age: ColumnOf = {
  name: 'age_days',
  title: 'Age',
  isNumber: true,
  text: (record) => String(Math.floor(daysOf(record))),
  cell: (record) => `${Math.floor(daysOf(record))} d`,
  compare: (one, other) => daysOf(one) - daysOf(other),
}

type Balance = {
  readonly asset: string
  readonly amount_paid: string
  readonly total_amount_owed: string
}

export const balancesOf = ({ statement_balances: balances }: RecordData): readonly Balance[] =>
  Array.isArray(balances) ? balances : []

/** What is owed and not paid, by asset; nothing where all is paid. */
export const shortfallsOf = (record: RecordData) =>
  balancesOf(record)
    .map(({ asset, amount_paid: paid, total_amount_owed: owed }) => ({
      asset,
      missing: subtract(owed, paid),
    }))
    .filter(({ missing }) => compareAmounts(missing, '0') > 0)

/** By the largest shortfall of any asset. */
export function compareShortfalls(one: RecordData, other: RecordData): number {
  const largest = (record: RecordData) =>
    largestOf(shortfallsOf(record).map(({ missing }) => missing))
  return compareAmounts(largest(one), largest(other))
}

export const balance = (
  name: string,
  title: string,
  lines: (record: RecordData) => readonly (readonly [amount: string, asset: string])[],
): ColumnOf => ({
  name,
  title,
  isNumber: true,
  text: (record) =>
    lines(record)
      .map(([figure, asset]) => `${figure} ${asset}`)
      .join('; '),
  cell: (record) =>
    lines(record).map(([figure, asset]) => (
      <div key={asset}>
        {grouped(figure)} {asset}
      </div>
    )),
})
