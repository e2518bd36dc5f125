import { described, flag } from '../fields.ts'
import { getOperation, includesDeleted } from '../operation.ts'
import { fiatAccount } from '../resources/fiat-account.ts'

export const getFiatAccount = getOperation({
  id: 'getFiatAccount',
  summary: 'One fiat account of the caller, with its account numbers in full.',
  tag: 'Fiat accounts',
  path: '/v2/transfer/fiat-accounts/:id',
  scope: 'transfer:read_fiat_account',
  filters: {
    include_deleted: includesDeleted(
      described(flag, 'When true, a deleted account is answered too.'),
    ),
  },
  view: fiatAccount.full,
  malformedId: (given) => `id must be uuid, given '${given}'`,
  unknownId: (id) => `no fiat account found for id: '${id}'`,
})
