import { Type } from 'typebox'
import {
  enumMember,
  identifierMember,
  metadataMember,
  objectMember,
  timestampMember,
  uuidMember,
} from '../contract/members.ts'
import { operatorMembers } from '../contract/operator-members.ts'
import {
  defineResource,
  listView,
  type RecordFault,
  type RecordInput,
  type RecordRules,
} from '../contract/resource.ts'
import { canonicalAddress } from '../fees/addresses/canonical-address.ts'
import { checkAddress } from '../fees/addresses/check-address.ts'
import { cryptoNetworks, isCryptoNetwork } from '../values/network.ts'

export const conversionTargets = ['NO_CONVERSION', 'USD'] as const

const network = enumMember(cryptoNetworks)

const answered = {
  id: uuidMember,
  profile_id: identifierMember,
  customer_id: identifierMember,
  identity_id: Type.Optional(identifierMember),
  account_id: Type.Optional(identifierMember),
  ref_id: Type.Optional(identifierMember),
  crypto_network: network,
  address: identifierMember,
  conversion_target_asset: enumMember(conversionTargets),
  compatible_crypto_networks: Type.Array(network, {
    maxItems: 100,
    reason: 'must be an array of networks',
  }),
  metadata: Type.Optional(metadataMember(50, 500, 500)),
  created_at: timestampMember,
} as const

/** The address where a profile receives coins (contract, section 2.7). */
const resource = defineResource({
  kind: 'deposit-addresses',
  table: 'deposit_address',
  noun: 'deposit address',
  record: objectMember({
    ...answered,
    ...operatorMembers.versioned,
  }),
  columns: {
    address: 'address',
    accountId: 'account_id',
    identityId: 'identity_id',
    profileId: 'profile_id',
    network: 'crypto_network',
  },
  orderBy: 'created_at',
  exclusive: { members: ['crypto_network', 'address'], key: addressKey },
  withheldMembers: ['source_version'],
  check: addressFaults,
  complete,
})

const full = listView('DepositAddress', resource, answered)

export const depositAddress = { resource, full }

/** An address in another case or with another prefix is still the same address. */
function addressKey({ crypto_network, address }: RecordInput): string {
  const text = String(address)
  const spelling = isCryptoNetwork(crypto_network)
    ? canonicalAddress(crypto_network, text, { testnets: true })
    : undefined
  return `${crypto_network} ${spelling ?? text}`
}

/** Money sent to an address with a wrong checksum would be lost. */
function addressFaults(record: RecordInput, { testnets }: RecordRules): RecordFault[] {
  const { crypto_network, address } = record
  if (!isCryptoNetwork(crypto_network) || typeof address !== 'string') return []
  const check = checkAddress(crypto_network, address, { testnets, quick: true })
  if (check.valid) return []
  return [{ member: 'address', reason: `is no address on ${crypto_network}: ${check.detail}` }]
}

/** `compatible_crypto_networks` always contains the address's own network, and no network twice. */
function complete(record: RecordInput): RecordInput {
  const own = record.crypto_network
  const given: unknown[] = Array.isArray(record.compatible_crypto_networks)
    ? record.compatible_crypto_networks
    : []
  const networks = given.includes(own) ? given : [own, ...given]
  return { ...record, compatible_crypto_networks: [...new Set(networks)] }
}
