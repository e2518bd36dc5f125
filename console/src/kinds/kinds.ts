import {
  age,
  amount,
  balance,
  balancesOf,
  compareShortfalls,
  deleted,
  extra,
  member,
  shortfallsOf,
  status,
  time,
} from './columns.tsx'
import type { ColumnOf, Filter, Kind } from './kind.ts'

const filter = (name: string, label: string): Filter => ({ name, label, type: 'text' })

const refIds = filter('ref_ids', 'Reference')
const created: readonly Filter[] = [
  { name: 'created_at.gte', label: 'Created from', type: 'instant' },
  { name: 'created_at.lt', label: 'Created before', type: 'instant' },
]
const owners = [
  filter('profile_ids', 'Profile id'),
  filter('identity_ids', 'Identity id'),
  filter('account_ids', 'Account id'),
]

const byId = { filter: 'ids', matched: 'id', takes: 'uuid' } as const
const byRef = { filter: 'ref_ids', matched: 'ref_id', takes: 'any' } as const
const byOwner = [
  { filter: 'identity_ids', matched: 'identity_id', takes: 'uuid' },
  { filter: 'account_ids', matched: 'account_id', takes: 'uuid' },
  { filter: 'profile_ids', matched: 'profile_id', takes: 'uuid' },
] as const

const wire = 'fiat_network_instructions.wire'
const bank: readonly ColumnOf[] = [
  member('account_number', 'Account number', `${wire}.account_number`),
  extra('routing_number', 'Routing number', `${wire}.routing_details.routing_number`),
  extra('bank_name', 'Bank', `${wire}.routing_details.bank_name`),
]

const fiatAccounts: Kind = {
  name: 'fiat-accounts',
  title: 'Fiat accounts',
  noun: 'fiat account',
  path: '/v2/transfer/fiat-accounts',
  scope: 'transfer:read_fiat_account',
  envelope: 'items',
  idFilter: 'ids',
  orderBy: 'created_at',
  hasDeleted: true,
  isMasked: true,
  filters: [
    filter('ids', 'Id'),
    refIds,
    ...created,
    { name: 'include_deleted', label: 'Deleted accounts too', type: 'flag' },
  ],
  finders: [byId, byRef],
  columns: [
    status(['PENDING', 'REJECTED', 'APPROVED']),
    member('ref_id', 'Reference'),
    ...bank,
    deleted,
    time('created_at', 'Created'),
    { ...time('updated_at', 'Updated'), isExtra: true },
    extra('id', 'Id'),
    extra('identity_id', 'Identity'),
    extra('account_id', 'Account'),
  ],
}

const depositInstructions: Kind = {
  name: 'fiat-deposit-instructions',
  title: 'Deposit instructions',
  noun: 'set of deposit instructions',
  path: '/v2/transfer/fiat-deposit-instructions',
  scope: 'transfer:read_fiat_deposit_instructions',
  envelope: 'items',
  idFilter: 'ids',
  orderBy: 'created_at',
  filters: [filter('memo_ids', 'Memo'), filter('ids', 'Id'), refIds, ...owners, ...created],
  finders: [byId, byRef, { filter: 'memo_ids', matched: 'memo_id', takes: 'any' }, ...byOwner],
  columns: [
    status(['VALID', 'DEPRECATED']),
    member('memo_id', 'Memo'),
    member('ref_id', 'Reference'),
    ...bank,
    time('created_at', 'Created'),
    extra('id', 'Id'),
    extra('profile_id', 'Profile'),
    extra('identity_id', 'Identity'),
    extra('account_id', 'Account'),
  ],
}

const depositAddresses: Kind = {
  name: 'deposit-addresses',
  title: 'Deposit addresses',
  noun: 'deposit address',
  path: '/v2/transfer/deposit-addresses',
  scope: 'transfer:read_deposit_address',
  envelope: 'items',
  idFilter: 'ids',
  orderBy: 'created_at',
  filters: [
    filter('addresses', 'Address'),
    filter('networks', 'Network'),
    filter('ids', 'Id'),
    refIds,
    ...owners,
    ...created,
  ],
  finders: [byId, byRef, { filter: 'addresses', matched: 'address', takes: 'text' }, ...byOwner],
  columns: [
    member('crypto_network', 'Network'),
    member('address', 'Address'),
    member('ref_id', 'Reference'),
    member('conversion_target_asset', 'Converts to'),
    time('created_at', 'Created'),
    extra('id', 'Id'),
    extra('profile_id', 'Owner profile'),
    extra('identity_id', 'Owner identity'),
    extra('account_id', 'Owner account'),
  ],
}

const statementStatuses = ['INITIATED', 'GENERATED', 'PAID', 'UNSPECIFIED'].map(
  (word) => `STATEMENT_STATUS_${word}`,
)

const statements: Kind = {
  name: 'statements',
  title: 'Statements',
  noun: 'statement',
  path: '/v2/statements',
  scope: 'statements:read_statement',
  envelope: 'statements',
  idFilter: 'statement_ids',
  orderBy: 'period_start',
  filters: [
    {
      name: 'statuses',
      label: 'Status',
      type: 'text',
      choices: statementStatuses,
    },
    filter('statement_ids', 'Id'),
    refIds,
  ],
  finders: [{ ...byId, filter: 'statement_ids' }, byRef],
  columns: [
    time('period_start', 'Period from'),
    { ...time('period_end', 'Period to'), isExtra: true },
    status(statementStatuses),
    balance('owed', 'Owed', (record) =>
      balancesOf(record).map((entry) => [entry.total_amount_owed, entry.asset]),
    ),
    balance('paid', 'Paid', (record) =>
      balancesOf(record).map((entry) => [entry.amount_paid, entry.asset]),
    ),
    {
      ...balance('shortfall', 'Shortfall', (record) =>
        shortfallsOf(record).map(({ missing, asset }) => [missing, asset]),
      ),
      compare: compareShortfalls,
    },
    member('ref_id', 'Reference'),
    { ...time('paid_at', 'Paid at'), isExtra: true },
    extra('type', 'Type'),
    extra('product', 'Product'),
    extra('id', 'Id'),
  ],
}

const issuerQuotes: Kind = {
  name: 'issuer-quote-executions',
  title: 'Quote executions',
  noun: 'quote execution',
  path: '/v2/issuer-quotes',
  scope: 'exchange:read_issuer_quote_execution',
  envelope: 'issuer_quote_executions',
  idFilter: 'ids',
  orderBy: 'created_at',
  filters: [
    {
      name: 'status',
      label: 'Status',
      type: 'text',
      choices: ['PENDING', 'FAILED', 'COMPLETE'],
    },
    filter('profile_id', 'Profile id'),
    filter('ids', 'Id'),
    refIds,
    { name: 'created_range.begin', label: 'Created from', type: 'instant' },
    { name: 'created_range.end', label: 'Created until', type: 'instant' },
  ],
  finders: [byId, byRef, { filter: 'profile_id', matched: 'profile_id', takes: 'uuid' }],
  columns: [
    status(['PENDING', 'FAILED', 'COMPLETE']),
    time('created_at', 'Created'),
    age,
    member('asset_type', 'Asset'),
    amount('principal', 'Principal'),
    amount('fee', 'Fee'),
    amount('token_principal', 'Tokens'),
    amount('token_price', 'Price'),
    { ...amount('token_fee', 'Token fee'), isExtra: true },
    member('ref_id', 'Reference'),
    extra('id', 'Id'),
    extra('profile_id', 'Profile'),
  ],
}

export const kinds: readonly Kind[] = [
  fiatAccounts,
  depositInstructions,
  depositAddresses,
  statements,
  issuerQuotes,
]

export const kindNamed = (name: string | undefined): Kind | undefined =>
  kinds.find((kind) => kind.name === name)
