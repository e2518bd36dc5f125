import { text, upTo100, uuid } from '../fields.ts'
import { anyOf, createdAtBounds, listOperation } from '../operation.ts'
import { fiatDepositInstructions } from '../resources/fiat-deposit-instructions.ts'

export const listFiatDepositInstructions = listOperation({
  id: 'listFiatDepositInstructions',
  summary: 'Fiat deposit instructions of the caller, newest first, nothing masked.',
  tag: 'Fiat deposit instructions',
  path: '/v2/transfer/fiat-deposit-instructions',
  scope: 'transfer:read_fiat_deposit_instructions',
  filters: {
    ids: anyOf('id', upTo100(uuid, 'Filter by ids of instructions.')),
    ref_ids: anyOf('refId', upTo100(text, 'Filter by client-specified identifiers.')),
    memo_ids: anyOf('memoId', upTo100(text, 'Filter by memo; an addition of ours.')),
    profile_ids: anyOf('profileId', upTo100(text, 'Filter by the profiles to deposit to.')),
    identity_ids: anyOf('identityId', upTo100(text, 'Filter by the identities that deposit.')),
    account_ids: anyOf('accountId', upTo100(text, 'Filter by the accounts of end users.')),
    ...createdAtBounds,
  },
  orderBy: 'CREATED_AT',
  envelope: 'items',
  view: fiatDepositInstructions.full,
})
