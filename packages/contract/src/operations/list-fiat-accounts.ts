import { described, flag, text, upTo100, uuid } from '../fields.ts'
import { anyOf, createdAtBounds, includesDeleted, listOperation } from '../operation.ts'
import { fiatAccount } from '../resources/fiat-account.ts'

export const listFiatAccounts = listOperation({
  id: 'listFiatAccounts',
  summary:
    'Fiat accounts of the caller, newest first; account numbers show their last four digits.',
  tag: 'Fiat accounts',
  path: '/v2/transfer/fiat-accounts',
  scope: 'transfer:read_fiat_account',
  filters: {
    ids: anyOf('id', upTo100(uuid, 'Filter by account ids.')),
    ref_ids: anyOf('refId', upTo100(text, 'Filter by client-specified identifiers.')),
    ...createdAtBounds,
    include_deleted: includesDeleted(
      described(flag, 'When true, deleted accounts are answered too.'),
    ),
  },
  orderBy: 'CREATED_AT',
  envelope: 'items',
  view: fiatAccount.brief,
})
