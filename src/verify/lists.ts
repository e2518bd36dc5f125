import {
  depositAddress,
  depositInstructions,
  fiatAccount,
  issuerQuote,
  statement,
} from './shapes/records.ts'
import type { Shape } from './shapes/shape.ts'

/** A list operation of the contract, as far as the statements need it. */
export type List = {
  readonly name: string
  readonly path: string
  readonly scope: string
  readonly envelope: string
  readonly sortedBy: 'created_at' | 'period_start'
  /** The filter on record ids. */
  readonly ids: string
  readonly shape: Shape
  /** Filters on one member that the contract shows, and the member of each. */
  readonly filters: Readonly<Record<string, string>>
  /** Filters that Bursar adds. */
  readonly additions: Readonly<Record<string, string>>
  /** Lower, upper and further bounds of the time of creation, and whether a record passes. */
  readonly bounds: Readonly<Record<string, (time: bigint, bound: bigint) => boolean>>
  /** At most as many entries in a filter. */
  readonly entriesMax: number
  /** The contract mentions the operation without its path. */
  readonly isMentionedOnly?: true
}

const createdAt: List['bounds'] = {
  'created_at.gte': (time, bound) => time >= bound,
  'created_at.gt': (time, bound) => time > bound,
  'created_at.lte': (time, bound) => time <= bound,
  'created_at.lt': (time, bound) => time < bound,
  'created_at.eq': (time, bound) => time === bound,
}

export const fiatAccounts: List = {
  name: 'fiat accounts',
  path: '/v2/transfer/fiat-accounts',
  scope: 'transfer:read_fiat_account',
  envelope: 'items',
  sortedBy: 'created_at',
  ids: 'ids',
  shape: fiatAccount,
  filters: { ids: 'id', ref_ids: 'ref_id' },
  additions: {},
  bounds: createdAt,
  entriesMax: 100,
}

export const statements: List = {
  name: 'statements',
  path: '/v2/statements',
  scope: 'statements:read_statement',
  envelope: 'statements',
  sortedBy: 'period_start',
  ids: 'statement_ids',
  shape: statement,
  filters: { statement_ids: 'id', ref_ids: 'ref_id', statuses: 'status' },
  additions: {},
  bounds: {},
  entriesMax: 1000,
}

export const fiatDepositInstructions: List = {
  name: 'fiat deposit instructions',
  path: '/v2/transfer/fiat-deposit-instructions',
  scope: 'transfer:read_fiat_deposit_instructions',
  envelope: 'items',
  sortedBy: 'created_at',
  ids: 'ids',
  shape: depositInstructions,
  filters: {},
  additions: {
    ids: 'id',
    ref_ids: 'ref_id',
    memo_ids: 'memo_id',
    profile_ids: 'profile_id',
    identity_ids: 'identity_id',
    account_ids: 'account_id',
  },
  bounds: createdAt,
  entriesMax: 100,
  isMentionedOnly: true,
}

export const depositAddresses: List = {
  name: 'deposit addresses',
  path: '/v2/transfer/deposit-addresses',
  scope: 'transfer:read_deposit_address',
  envelope: 'items',
  sortedBy: 'created_at',
  ids: 'ids',
  shape: depositAddress,
  filters: {
    ids: 'id',
    ref_ids: 'ref_id',
    profile_ids: 'profile_id',
    identity_ids: 'identity_id',
    account_ids: 'account_id',
  },
  additions: { networks: 'crypto_network', addresses: 'address' },
  bounds: createdAt,
  entriesMax: 100,
}

export const issuerQuotes: List = {
  name: 'issuer quote executions',
  path: '/v2/issuer-quotes',
  scope: 'exchange:read_issuer_quote_execution',
  envelope: 'issuer_quote_executions',
  sortedBy: 'created_at',
  ids: 'ids',
  shape: issuerQuote,
  filters: { profile_id: 'profile_id', status: 'status' },
  additions: { ids: 'id', ref_ids: 'ref_id' },
  bounds: {
    'created_range.begin': (time, bound) => time >= bound,
    'created_range.end': (time, bound) => time <= bound,
  },
  entriesMax: 1000,
}

export const lists: readonly List[] = [
  fiatAccounts,
  statements,
  fiatDepositInstructions,
  depositAddresses,
  issuerQuotes,
]

/** The operations that read one record. */
export const singleReads = [
  { list: fiatAccounts, unknownDetail: (id: string) => `no fiat account found for id: '${id}'` },
  {
    list: fiatDepositInstructions,
    unknownDetail: (id: string) => `fiat deposit instructions with id ${id} not found`,
  },
] as const

export const feePath = '/v2/transfer/fees/crypto-withdrawal'
export const feeScope = 'fee:write_crypto_withdrawal_fee'
