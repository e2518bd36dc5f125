import { Amount } from '../values/amount.tsx'
import { subtract, thousandthsOf } from '../values/amounts.ts'
import { countryName } from '../values/countries.ts'
import { shortAddress, shortId } from '../values/ids.ts'
import { labelOf, wordOf } from '../values/labels.ts'
import { ShownTime } from '../values/shown-time.tsx'
import { Status } from '../values/status.tsx'
import { ageText, periodText } from '../values/times.ts'
import { type Balance, balancesOf, shortfallOf, statementStatus } from './balances.ts'
import { mainMember, mainNetwork, networksOf, shortNumber } from './fiat-networks.ts'
import type { ColumnOf, RecordData, Row } from './kind.ts'
import { memberText } from './record-members.ts'

export const member = (name: string, title: string, path = name): ColumnOf => ({
  name,
  title,
  member: path,
  text: (record) => memberText(record, path),
})

export const extra = (column: ColumnOf): ColumnOf => ({ ...column, isExtra: true })

export const idMember = (name: string): ColumnOf => ({
  ...member(name, labelOf(name)),
  isExtra: true,
  cell: ({ record }) => {
    const id = memberText(record, name)
    return (
      <span className="mono" title={id}>
        {shortId(id)}
      </span>
    )
  },
})

export const time = (name: string, title: string): ColumnOf => ({
  ...member(name, title),
  cell: ({ record }) => <ShownTime at={record[name]} />,
})

/** A constant of the API, as a word. A file has the constant. */
export const constant = (name: string, title: string): ColumnOf => ({
  ...member(name, title),
  cell: ({ record }) => wordOf(memberText(record, name)),
})

export const status: ColumnOf = {
  ...member('status', 'Status'),
  cell: ({ record }) =>
    record.is_deleted === true ? <Status value="DELETED" /> : <Status value={record.status} />,
}

export const amount = (name: string, title: string): ColumnOf => ({
  ...member(name, title),
  isNumber: true,
  amounts: ({ record }) => [memberText(record, name)].filter((text) => text !== ''),
  cell: ({ record }, decimals) => <Amount text={memberText(record, name)} decimals={decimals} />,
})

/** Since when a record waits. A file has the time that the age is counted from. */
export const age: ColumnOf = {
  name: 'age',
  title: 'Age',
  member: 'now minus created_at',
  isNumber: true,
  text: (record) => memberText(record, 'created_at'),
  cell: ({ record }) => ageText(memberText(record, 'created_at'), new Date()),
}

/** `CBIT account`: what stands in the place of a bank where the network has none. */
const networkAccount = (record: RecordData): string => {
  const network = mainNetwork(record)
  return network === undefined ? 'no network' : `${labelOf(network)} account`
}

/** The bank, the network and the last digits of an account, as they tell rows apart. */
export const bank: readonly ColumnOf[] = [
  {
    ...member('bank_name', 'Bank', 'routing_details.bank_name'),
    text: (record) => mainMember(record, 'routing_details.bank_name'),
    cell: ({ record }) => mainMember(record, 'routing_details.bank_name') || networkAccount(record),
  },
  {
    ...member('network', 'Network', 'fiat_network_instructions'),
    text: (record) => networksOf(record).join(' '),
    cell: ({ record }) => networksOf(record).map(labelOf).join(', '),
  },
  {
    ...member('account_number', 'Number'),
    text: (record) => mainMember(record, 'account_number') || mainMember(record, 'wallet_address'),
    cell: ({ record }) => {
      const network = mainNetwork(record)
      return network === undefined ? (
        ''
      ) : (
        <span className="mono">{shortNumber(record, network)}</span>
      )
    },
  },
  extra({
    ...member('routing_number', 'Routing number', 'routing_details.routing_number'),
    text: (record) => mainMember(record, 'routing_details.routing_number'),
  }),
]

export const country: ColumnOf = {
  ...member('country', 'Owner’s country', 'fiat_account_owner_address.country'),
  text: (record) => mainMember(record, 'fiat_account_owner_address.country'),
  cell: ({ record }) => countryName(mainMember(record, 'fiat_account_owner_address.country')),
}

export const shortAddressColumn: ColumnOf = {
  ...member('address', 'Address'),
  cell: ({ record }) => (
    <span className="mono" title={memberText(record, 'address')}>
      {shortAddress(memberText(record, 'address'))}
    </span>
  ),
}

export const listOf = (record: RecordData, name: string): readonly string[] => {
  const value = record[name]
  return Array.isArray(value) ? value.map(String) : []
}

export const period: ColumnOf = {
  ...member('period', 'Period', 'period_start, period_end'),
  orderBy: 'PERIOD_START',
  text: (record) => memberText(record, 'period_start'),
  cell: ({ record }) => periodOf(record),
}

export const periodOf = (record: RecordData): string =>
  periodText(memberText(record, 'period_start'), memberText(record, 'period_end'))

export const statementStatusColumn: ColumnOf = {
  ...status,
  cell: ({ record }) => (
    <Status
      value={statementStatus(record)}
      title={`status: ${record.status}; paid in part: amount_paid is less than total_amount_owed`}
    />
  ),
}

/** The balances of a row: of a list of shortfalls, that of its asset alone. */
export function balancesOfRow({ record, shortfall }: Row): readonly Balance[] {
  const all = balancesOf(record)
  return shortfall === undefined
    ? all
    : all.filter((balance) => shortfallOf(balance) !== '0').slice(0, 1)
}

export const balance = (
  name: string,
  title: string,
  path: string,
  figure: (balance: Balance) => string,
): ColumnOf => ({
  name,
  title,
  member: path,
  isNumber: true,
  amounts: (row) => balancesOfRow(row).map(figure),
  text: (record) =>
    balancesOf(record)
      .map((entry) => `${figure(entry)} ${entry.asset}`)
      .join('; '),
  cell: (row, decimals) =>
    balancesOfRow(row).map((entry) => (
      <div key={entry.asset} className="balance">
        <Amount text={figure(entry)} decimals={decimals} />{' '}
        {row.shortfall === undefined && <span className="unit">{entry.asset}</span>}
      </div>
    )),
})

/** The shortfall of the asset that the list is about, as the server has stored it. */
export const shortfall: ColumnOf = {
  name: 'shortfall',
  title: 'Shortfall',
  member: 'total_amount_owed minus amount_paid',
  isNumber: true,
  orderBy: 'SHORTFALL',
  amounts: (row) => shortfallsOfRow(row),
  text: (record) =>
    balancesOf(record)
      .filter((entry) => shortfallOf(entry) !== '0')
      .map((entry) => `${subtract(entry.total_amount_owed, entry.amount_paid)} ${entry.asset}`)
      .join('; '),
  cell: (row, decimals) =>
    shortfallsOfRow(row).map((text, at) => (
      <div key={balancesOfRow(row)[at]?.asset ?? text} className="balance">
        {text === '0' ? '' : <Amount text={text} decimals={decimals} isStrong />}
      </div>
    )),
}

const shortfallsOfRow = (row: Row): readonly string[] =>
  row.shortfall === undefined ? balancesOfRow(row).map(shortfallOf) : [row.shortfall]

/** How much of what was owed has been paid, beside the exact figure. */
export const paid: ColumnOf = {
  ...balance('paid', 'Paid', 'amount_paid', ({ amount_paid: amountPaid }) => amountPaid),
  cell: (row, decimals) =>
    balancesOfRow(row).map(({ asset, amount_paid: amountPaid, total_amount_owed: owed }) => (
      <div key={asset} className="balance">
        <Amount text={amountPaid} decimals={decimals} />{' '}
        {row.shortfall === undefined ? (
          <span className="unit">{asset}</span>
        ) : (
          <svg className="meter" viewBox="0 0 1000 6" preserveAspectRatio="none" aria-hidden="true">
            <rect className="owed" width="1000" height="6" />
            <rect className="paid" width={thousandthsOf(amountPaid, owed)} height="6" />
          </svg>
        )}
      </div>
    )),
}

export const periodEnded: ColumnOf = {
  ...member('period_ended', 'Period ended', 'now minus period_end'),
  isNumber: true,
  isOfShortfalls: true,
  text: (record) => memberText(record, 'period_end'),
  cell: ({ record }) => (
    <span className="quiet">
      <ShownTime at={record.period_end} form="age" />
    </span>
  ),
}
