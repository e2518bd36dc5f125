import { memberOf, text, upTo100, uuid } from '../contract/fields.ts'
import { cryptoNetworkMember } from '../contract/members.ts'
import { anyOf, createdAtBounds, createdAtFilters, listOperation } from '../contract/operation.ts'
import { depositAddress } from '../resources/deposit-address.ts'

export const listDepositAddresses = listOperation({
  id: 'listDepositAddresses',
  summary: 'Crypto deposit addresses of the caller, newest first.',
  tag: 'Deposit addresses',
  path: '/v2/transfer/deposit-addresses',
  scope: 'transfer:read_deposit_address',
  query: {
    profile_ids: upTo100(text, 'Filter by profiles.'),
    identity_ids: upTo100(text, 'Filter by identities.'),
    ids: upTo100(uuid, 'Filter by ids of deposit addresses.'),
    ref_ids: upTo100(text, 'Filter by client-specified identifiers.'),
    account_ids: upTo100(text, 'Filter by the accounts of end users.'),
    networks: upTo100(memberOf(cryptoNetworkMember), 'Filter by `crypto_network`.'),
    addresses: upTo100(text, 'Filter by blockchain address; an addition of ours.'),
    ...createdAtBounds,
  },
  filter: {
    profile_ids: anyOf('profileId'),
    identity_ids: anyOf('identityId'),
    ids: anyOf('id'),
    ref_ids: anyOf('refId'),
    account_ids: anyOf('accountId'),
    networks: anyOf('network'),
    addresses: anyOf('address'),
    ...createdAtFilters,
  },
  orderBy: 'CREATED_AT',
  envelope: 'items',
  view: depositAddress.full,
})
