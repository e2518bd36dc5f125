import { memberOf, text, upTo100, uuid } from '../fields.ts'
import { cryptoNetworkMember } from '../members.ts'
import { anyOf, createdAtBounds, listOperation } from '../operation.ts'
import { depositAddress } from '../resources/deposit-address.ts'

export const listDepositAddresses = listOperation({
  id: 'listDepositAddresses',
  summary: 'Crypto deposit addresses of the caller, newest first.',
  tag: 'Deposit addresses',
  path: '/v2/transfer/deposit-addresses',
  scope: 'transfer:read_deposit_address',
  filters: {
    profile_ids: anyOf('profileId', upTo100(text, 'Filter by profiles.')),
    identity_ids: anyOf('identityId', upTo100(text, 'Filter by identities.')),
    ids: anyOf('id', upTo100(uuid, 'Filter by ids of deposit addresses.')),
    ref_ids: anyOf('refId', upTo100(text, 'Filter by client-specified identifiers.')),
    account_ids: anyOf('accountId', upTo100(text, 'Filter by the accounts of end users.')),
    networks: anyOf(
      'network',
      upTo100(memberOf(cryptoNetworkMember), 'Filter by `crypto_network`.'),
    ),
    addresses: anyOf(
      'address',
      upTo100(text, 'Filter by blockchain address; an addition of ours.'),
    ),
    ...createdAtBounds,
  },
  orderBy: 'CREATED_AT',
  envelope: 'items',
  view: depositAddress.full,
})
