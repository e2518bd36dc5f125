import { grouped } from '../values/amounts.ts'
import { shortAddress } from '../values/ids.ts'
import { wordOf } from '../values/labels.ts'
import {
  age,
  amount,
  constant,
  extra,
  idMember,
  listOf,
  member,
  shortAddressColumn,
  status,
  time,
} from './columns.tsx'
import { byId, byOwner, byRef, createdFilters, filter, owners, refIds } from './filters.ts'
import type { Kind, RecordData } from './kind.ts'
import { memberText } from './record-members.ts'

const addressTitle = (record: RecordData): string =>
  `${wordOf(memberText(record, 'crypto_network'))} ${shortAddress(memberText(record, 'address'))}`

const targetOf = (record: RecordData): string => {
  const target = memberText(record, 'conversion_target_asset')
  return target === 'NO_CONVERSION' || target === '' ? 'no conversion' : `to ${target}`
}

export const depositAddresses: Kind = {
  name: 'deposit-addresses',
  title: 'Deposit addresses',
  noun: 'deposit address',
  plural: 'deposit addresses',
  icon: 'qr',
  key: 'd',
  path: '/v2/transfer/deposit-addresses',
  scope: 'transfer:read_deposit_address',
  envelope: 'items',
  idFilter: 'ids',
  orderBy: 'created_at',
  statuses: [],
  filters: [
    filter('addresses', 'Address'),
    filter('networks', 'Network'),
    refIds,
    filter('ids', 'Id'),
    ...owners,
    ...createdFilters,
  ],
  finders: [byId, byRef, { filter: 'addresses', matched: 'address', takes: 'text' }, ...byOwner],
  titleOf: addressTitle,
  cardOf: ({ record }) => ({
    figure: targetOf(record),
    sub: memberText(record, 'ref_id'),
  }),
  columns: [
    shortAddressColumn,
    constant('crypto_network', 'Network'),
    {
      ...member('compatible_crypto_networks', 'Also receives on'),
      text: (record) => listOf(record, 'compatible_crypto_networks').join(' '),
      cell: ({ record }) =>
        listOf(record, 'compatible_crypto_networks')
          .filter((name) => name !== record.crypto_network)
          .map(wordOf)
          .join(', '),
    },
    {
      ...member('conversion_target_asset', 'Converted to'),
      cell: ({ record }) => targetOf(record),
    },
    member('ref_id', 'Reference'),
    time('created_at', 'Created'),
    idMember('id'),
    idMember('profile_id'),
    idMember('identity_id'),
    idMember('account_id'),
  ],
}

export const issuerQuotes: Kind = {
  name: 'issuer-quote-executions',
  title: 'Issuer quotes',
  noun: 'issuer quote',
  plural: 'issuer quotes',
  icon: 'swap',
  key: 'q',
  path: '/v2/issuer-quotes',
  scope: 'exchange:read_issuer_quote_execution',
  envelope: 'issuer_quote_executions',
  idFilter: 'ids',
  orderBy: 'created_at',
  statuses: ['PENDING', 'FAILED', 'COMPLETE'],
  filters: [
    { name: 'status', label: 'Status', type: 'text', choices: ['PENDING', 'FAILED', 'COMPLETE'] },
    { name: 'created_range.begin', label: 'Created from', type: 'instant' },
    { name: 'created_range.end', label: 'Created until', type: 'instant' },
    filter('profile_id', 'Profile'),
    refIds,
    filter('ids', 'Id'),
  ],
  finders: [byId, byRef, { filter: 'profile_id', matched: 'profile_id', takes: 'uuid' }],
  titleOf: (record) =>
    `${grouped(memberText(record, 'principal'))} ${memberText(record, 'asset_type')}`,
  cardOf: ({ record }) => ({
    figure: grouped(memberText(record, 'token_principal')),
    sub: `Fee ${grouped(memberText(record, 'fee'))} · ${memberText(record, 'ref_id')}`,
    status: String(record.status),
  }),
  columns: [
    { ...time('created_at', 'Created'), orderBy: 'CREATED_AT' },
    status,
    age,
    member('asset_type', 'Asset'),
    amount('principal', 'Principal'),
    amount('fee', 'Fee'),
    amount('token_principal', 'Tokens'),
    amount('token_price', 'Price of a token'),
    extra(amount('token_fee', 'Fee in tokens')),
    member('ref_id', 'Reference'),
    idMember('id'),
    idMember('profile_id'),
  ],
}
