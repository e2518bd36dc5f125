import { labelOf } from '../values/labels.ts'
import { bank, country, extra, idMember, member, status, time } from './columns.tsx'
import { accountTitle, mainMember, mainNetwork, ownerOf } from './fiat-networks.ts'
import { byId, byOwner, byRef, createdFilters, filter, owners, refIds } from './filters.ts'
import type { Kind, Row } from './kind.ts'
import { memberText } from './record-members.ts'

const subOf = ({ record }: Row): string => {
  const network = mainNetwork(record)
  const name = network === undefined ? '' : labelOf(network)
  return [name, memberText(record, 'ref_id')].filter((text) => text !== '').join(' · ')
}

/** Lists of fiat accounts have no owner, so the bank and the masked number name an account. */
export const fiatAccounts: Kind = {
  name: 'fiat-accounts',
  title: 'Fiat accounts',
  noun: 'fiat account',
  plural: 'fiat accounts',
  icon: 'bank',
  key: 'a',
  path: '/v2/transfer/fiat-accounts',
  scope: 'transfer:read_fiat_account',
  envelope: 'items',
  idFilter: 'ids',
  orderBy: 'created_at',
  statuses: ['PENDING', 'APPROVED', 'REJECTED'],
  hasDeleted: true,
  isMasked: true,
  filters: [
    refIds,
    filter('ids', 'Id'),
    ...createdFilters,
    { name: 'include_deleted', label: 'Deleted accounts too', type: 'flag' },
  ],
  finders: [byId, byRef],
  titleOf: (record) => accountTitle(record, labelOf),
  cardOf: (row) => ({
    sub: subOf(row),
    status: String(row.record.is_deleted === true ? 'DELETED' : row.record.status),
  }),
  columns: [
    ...bank,
    country,
    status,
    member('ref_id', 'Reference'),
    time('created_at', 'Created'),
    extra(time('updated_at', 'Updated')),
    idMember('id'),
    idMember('identity_id'),
    idMember('account_id'),
  ],
}

export const depositInstructions: Kind = {
  name: 'fiat-deposit-instructions',
  title: 'Deposit instructions',
  noun: 'deposit instructions',
  plural: 'sets of deposit instructions',
  icon: 'inbox',
  key: 'i',
  path: '/v2/transfer/fiat-deposit-instructions',
  scope: 'transfer:read_fiat_deposit_instructions',
  envelope: 'items',
  idFilter: 'ids',
  orderBy: 'created_at',
  statuses: ['VALID', 'DEPRECATED'],
  filters: [filter('memo_ids', 'Memo'), refIds, filter('ids', 'Id'), ...owners, ...createdFilters],
  finders: [byId, byRef, { filter: 'memo_ids', matched: 'memo_id', takes: 'any' }, ...byOwner],
  titleOf: (record) => {
    const memo = memberText(record, 'memo_id')
    return memo === '' ? accountTitle(record, labelOf) : `Memo ${memo}`
  },
  cardOf: (row) => ({
    sub: mainMember(row.record, 'routing_details.bank_name') || subOf(row),
    status: String(row.record.status),
    line: ownerOf(row.record),
  }),
  columns: [
    { ...member('memo_id', 'Memo'), cell: ({ record }) => memberText(record, 'memo_id') },
    {
      ...member('owner', 'Owner', 'fiat_account_owner'),
      text: ownerOf,
    },
    ...bank,
    status,
    extra(country),
    extra(member('ref_id', 'Reference')),
    time('created_at', 'Created'),
    idMember('id'),
    idMember('profile_id'),
    idMember('identity_id'),
    idMember('account_id'),
  ],
}
