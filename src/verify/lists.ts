import {
  depositAddress,
  depositInstructions,
  fiatAccount,
  issuerQuote,
  listedFiatAccount,
  statement,
} from './shapes/records.ts'
import type { Shape } from './shapes/shape.ts'

/** A filter on one member of a record. */
export type Filter = {
  readonly member: string
  /** At most as many entries; one for a parameter that is given once. */
  readonly entriesMax: number
  /** The values are those of an enum, so that no other value can be filtered for. */
  readonly isEnum?: true
}

/** Whether a record of a time passes a bound. */
type Passes = (time: bigint, bound: bigint) => boolean

/** A list operation of the contract, as far as the statements need it. */
export type List = {
  readonly name: string
  readonly path: string
  /** Of the contract. */
  readonly section: string
  readonly scope: string
  readonly envelope: string
  readonly sortedBy: 'created_at' | 'period_start'
  /** The filter on record ids. */
  readonly ids: string
  readonly shape: Shape
  /** Filters that the contract shows. */
  readonly filters: Readonly<Record<string, Filter>>
  /** Filters that Bursar adds. */
  readonly additions: Readonly<Record<string, Filter>>
  /** Bounds of the time of creation. */
  readonly bounds: Readonly<Record<string, Passes>>
  /** The flag that shows deleted records too. */
  readonly deletedFlag?: 'include_deleted'
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

/** Filters of 100 entries; those of statements and issuer quotes take 1,000. */
const on = (member: string): Filter => ({ member, entriesMax: 100 })
const onMany = (member: string): Filter => ({ member, entriesMax: 1000 })

export const fiatAccounts: List = {
  name: 'fiat accounts',
  path: '/v2/transfer/fiat-accounts',
  section: '4.2',
  scope: 'transfer:read_fiat_account',
  envelope: 'items',
  sortedBy: 'created_at',
  ids: 'ids',
  shape: listedFiatAccount,
  filters: { ids: on('id'), ref_ids: on('ref_id') },
  additions: {},
  bounds: createdAt,
  deletedFlag: 'include_deleted',
}

export const statements: List = {
  name: 'statements',
  path: '/v2/statements',
  section: '4.3',
  scope: 'statements:read_statement',
  envelope: 'statements',
  sortedBy: 'period_start',
  ids: 'statement_ids',
  shape: statement,
  filters: {
    statement_ids: onMany('id'),
    ref_ids: onMany('ref_id'),
    statuses: { ...onMany('status'), isEnum: true },
  },
  additions: {},
  bounds: {},
}

export const fiatDepositInstructions: List = {
  name: 'fiat deposit instructions',
  path: '/v2/transfer/fiat-deposit-instructions',
  section: '4.4',
  scope: 'transfer:read_fiat_deposit_instructions',
  envelope: 'items',
  sortedBy: 'created_at',
  ids: 'ids',
  shape: depositInstructions,
  filters: {},
  additions: {
    ids: on('id'),
    ref_ids: on('ref_id'),
    memo_ids: on('memo_id'),
    profile_ids: on('profile_id'),
    identity_ids: on('identity_id'),
    account_ids: on('account_id'),
  },
  bounds: createdAt,
  isMentionedOnly: true,
}

export const depositAddresses: List = {
  name: 'deposit addresses',
  path: '/v2/transfer/deposit-addresses',
  section: '4.5',
  scope: 'transfer:read_deposit_address',
  envelope: 'items',
  sortedBy: 'created_at',
  ids: 'ids',
  shape: depositAddress,
  filters: {
    ids: on('id'),
    ref_ids: on('ref_id'),
    profile_ids: on('profile_id'),
    identity_ids: on('identity_id'),
    account_ids: on('account_id'),
  },
  additions: {
    networks: { ...on('crypto_network'), isEnum: true },
    addresses: on('address'),
  },
  bounds: createdAt,
}

export const issuerQuotes: List = {
  name: 'issuer quote executions',
  path: '/v2/issuer-quotes',
  section: '4.6',
  scope: 'exchange:read_issuer_quote_execution',
  envelope: 'issuer_quote_executions',
  sortedBy: 'created_at',
  ids: 'ids',
  shape: issuerQuote,
  filters: {
    profile_id: { member: 'profile_id', entriesMax: 1 },
    status: { ...onMany('status'), isEnum: true },
  },
  additions: { ids: onMany('id'), ref_ids: onMany('ref_id') },
  bounds: {
    'created_range.begin': (time, bound) => time >= bound,
    'created_range.end': (time, bound) => time <= bound,
  },
}

export const lists: readonly List[] = [
  fiatAccounts,
  statements,
  fiatDepositInstructions,
  depositAddresses,
  issuerQuotes,
]

export const filtersOf = (list: List): Readonly<Record<string, Filter>> => ({
  ...list.filters,
  ...list.additions,
})

/** An operation that reads one record. */
export type SingleRead = {
  readonly list: List
  readonly section: string
  readonly shape: Shape
  /** Bursar's `detail` for an unknown id. */
  readonly unknownDetail: (id: string) => string
}

export const accountRead: SingleRead = {
  list: fiatAccounts,
  section: '4.1',
  shape: fiatAccount,
  unknownDetail: (id) => `no fiat account found for id: '${id}'`,
}

export const singleReads: readonly SingleRead[] = [
  accountRead,
  {
    list: fiatDepositInstructions,
    section: '4.4',
    shape: depositInstructions,
    unknownDetail: (id) => `fiat deposit instructions with id ${id} not found`,
  },
]

export const feePath = '/v2/transfer/fees/crypto-withdrawal'
export const feeScope = 'fee:write_crypto_withdrawal_fee'
