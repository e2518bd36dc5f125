import { hash } from 'node:crypto'
import { type CryptoNetwork, cryptoNetworks, isCryptoNetwork, printable } from '@bursar/base'
import { canonicalAddress, checkAddress, haveSameAddresses } from '@bursar/fees'
import { Type } from 'typebox'
import {
  about,
  component,
  cryptoNetworkMember,
  enumMember,
  identifierMember,
  metadataMember,
  objectMember,
  timestampMember,
  uuidMember,
} from '../members.ts'
import { operatorMembers } from '../operator-members.ts'
import {
  defineResource,
  listView,
  type RecordFault,
  type RecordInput,
  type RecordRules,
} from '../resource.ts'

export const conversionTargets = ['NO_CONVERSION', 'USD'] as const

const answered = {
  id: about('Identifier of the deposit address.', uuidMember),
  profile_id: about('Profile that receives the coins.', identifierMember),
  customer_id: about('Customer to whom the address belongs.', identifierMember),
  identity_id: Type.Optional(about('Identity of the user who deposits.', identifierMember)),
  account_id: Type.Optional(
    about('Account of the user, in integrations that deposit for end users.', identifierMember),
  ),
  ref_id: Type.Optional(about('Client-specified identifier, for idempotence.', identifierMember)),
  crypto_network: about('The network of the address.', cryptoNetworkMember),
  address: about('The blockchain address.', identifierMember),
  conversion_target_asset: about(
    'The asset that deposits are converted to, or NO_CONVERSION.',
    component(
      'ConversionTargetAsset',
      'What a deposit is converted to.',
      enumMember(conversionTargets),
    ),
  ),
  compatible_crypto_networks: about(
    'The networks on which the address receives coins, its own included.',
    Type.Array(cryptoNetworkMember, { maxItems: 100, reason: 'must be an array of networks' }),
  ),
  metadata: Type.Optional(about('Client-specified pairs of texts.', metadataMember(50, 500, 500))),
  created_at: about('When the address was created.', timestampMember),
} as const

/** The address where a profile receives coins (contract, section 2.7). */
const resource = defineResource({
  kind: 'deposit-addresses',
  table: 'deposit_address',
  noun: 'deposit address',
  description: 'A blockchain address where a profile receives coins.',
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
  exclusive: {
    network: 'crypto_network',
    networks: 'compatible_crypto_networks',
    member: 'address',
    key: ({ crypto_network, address }) => addressKey(crypto_network, String(address)),
    keysOf: addressKeys,
  },
  withheldMembers: ['source_version'],
  check: addressFaults,
  complete,
})

const full = listView('DepositAddress', resource, answered)

export const depositAddress = { resource, full }

/**
 * An address in another case or with another prefix is still the same address. A digest of 120 bits
 * is half as long as most addresses.
 */
function addressKey(network: unknown, address: string): string {
  const spelling = isCryptoNetwork(network) ? spellingOf(network, address) : undefined
  return digestOf(spelling ?? address)
}

/** The address may be of any network that has addresses of this form. Most of them agree. */
function addressKeys(address: string): string[] {
  if (isEvmForm(address)) return [addressKey('ETHEREUM', address)]
  const spellings = cryptoNetworks.flatMap((network) => spellingOf(network, address) ?? [])
  return [...new Set(spellings)].map(digestOf)
}

const digestOf = (spelling: string): string => hash('sha256', spelling, 'base64url').slice(0, 20)

const isEvmForm = (address: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(address)

/** EVM addresses of every network differ in case only. Their checksum would take 20 µs. */
const spellingOf = (network: CryptoNetwork, address: string): string | undefined =>
  isEvmForm(address)
    ? address.toLowerCase()
    : canonicalAddress(network, address, { testnets: true, quick: true, issued: true })

/** Money sent to an address with a wrong checksum, or where nobody has its key, would be lost. */
function addressFaults(record: RecordInput, rules: RecordRules): RecordFault[] {
  return [...formFaults(record, rules), ...familyFaults(record)]
}

function familyFaults(record: RecordInput): RecordFault[] {
  const { crypto_network: own, address, compatible_crypto_networks: compatible } = record
  if (!isCryptoNetwork(own) || typeof address !== 'string' || !Array.isArray(compatible)) return []
  return compatible.flatMap((network: unknown, at) =>
    !isCryptoNetwork(network) || haveSameAddresses(own, network)
      ? []
      : {
          member: `compatible_crypto_networks[${at}]`,
          code: 'invalid_address' as const,
          reason: `names ${network}, where ${printable(address)} cannot receive: its addresses are not those of ${own}`,
        },
  )
}

function formFaults(record: RecordInput, { testnets }: RecordRules): RecordFault[] {
  const { crypto_network, address } = record
  if (!isCryptoNetwork(crypto_network) || typeof address !== 'string') return []
  const check = checkAddress(crypto_network, address, { testnets, quick: true, issued: true })
  if (check.valid) return []
  const reason = `is no address on ${crypto_network}: ${check.detail}`
  return [{ member: 'address', code: 'invalid_address', reason }]
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
