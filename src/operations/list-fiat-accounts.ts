import { described, flag, text, upTo100, uuid } from '../contract/fields.ts'
import {
  anyOf,
  createdAtBounds,
  createdAtFilters,
  includesDeleted,
  listOperation,
} from '../contract/operation.ts'
import { fiatAccount } from '../resources/fiat-account.ts'

export const listFiatAccounts = listOperation({
  id: 'listFiatAccounts',
  summary:
    'Fiat accounts of the caller, newest first; account numbers show their last four digits.',
  tag: 'Fiat accounts',
  path: '/v2/transfer/fiat-accounts',
  scope: 'transfer:read_fiat_account',
  query: {
    ids: upTo100(uuid, 'Filter by account ids.'),
    ref_ids: upTo100(text, 'Filter by client-specified identifiers.'),
    ...createdAtBounds,
    include_deleted: described(flag, 'When true, deleted accounts are answered too.'),
  },
  filter: {
    ids: anyOf('id'),
    ref_ids: anyOf('refId'),
    ...createdAtFilters,
    include_deleted: includesDeleted,
  },
  orderBy: 'CREATED_AT',
  envelope: 'items',
  view: fiatAccount.brief,
})
