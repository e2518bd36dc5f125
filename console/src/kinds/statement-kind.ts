import { grouped } from '../values/amounts.ts'
import { ageText } from '../values/times.ts'
import { shortfallOf, statementStatus } from './balances.ts'
import {
  balance,
  balancesOfRow,
  constant,
  extra,
  idMember,
  member,
  paid,
  period,
  periodEnded,
  periodOf,
  shortfall,
  statementStatusColumn,
  time,
} from './columns.tsx'
import { byId, byRef, filter, refIds } from './filters.ts'
import type { Kind, Row } from './kind.ts'
import { memberText } from './record-members.ts'

const statuses = ['INITIATED', 'GENERATED', 'PAID', 'UNSPECIFIED'].map(
  (word) => `STATEMENT_STATUS_${word}`,
)

const figureOf = (row: Row): string => {
  const [first] = balancesOfRow(row)
  if (row.shortfall !== undefined) return grouped(row.shortfall)
  return first === undefined ? 'none' : `${grouped(first.total_amount_owed)} ${first.asset}`
}

const paidOf = (row: Row): string =>
  balancesOfRow(row)
    .map(
      ({ amount_paid: paid, total_amount_owed: owed, asset }) =>
        `Paid ${grouped(paid)} of ${grouped(owed)} ${asset}`,
    )
    .join('; ')

export const statements: Kind = {
  name: 'statements',
  title: 'Statements',
  noun: 'statement',
  plural: 'statements',
  icon: 'doc',
  key: 's',
  path: '/v2/statements',
  scope: 'statements:read_statement',
  envelope: 'statements',
  idFilter: 'statement_ids',
  orderBy: 'period_start',
  statuses,
  filters: [
    { name: 'statuses', label: 'Status', type: 'text', choices: statuses },
    refIds,
    filter('statement_ids', 'Id'),
  ],
  finders: [{ ...byId, filter: 'statement_ids' }, byRef],
  titleOf: (record) => {
    const assets = balancesOfRow({ customerId: '', record, shortfall: undefined })
    return [periodOf(record), ...assets.map(({ asset }) => asset)].join(', ')
  },
  cardOf: (row) => ({
    figure: figureOf(row),
    sub: `${periodOf(row.record)} · ended ${ageText(memberText(row.record, 'period_end'), new Date())}`,
    status: statementStatus(row.record),
    line: paidOf(row),
  }),
  columns: [
    period,
    statementStatusColumn,
    balance('owed', 'Owed', 'total_amount_owed', ({ total_amount_owed: owed }) => owed),
    paid,
    shortfall,
    periodEnded,
    extra(balance('missing', 'Not paid', 'owed minus paid', shortfallOf)),
    member('ref_id', 'Reference'),
    extra(time('generated_at', 'Generated')),
    extra(time('paid_at', 'Paid on')),
    extra(constant('type', 'Type')),
    extra(constant('product', 'Product')),
    idMember('id'),
  ],
}
