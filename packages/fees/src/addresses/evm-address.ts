import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { type AddressCheck, type AddressPolicy, accept, refuse } from './address-check.ts'
import { refuseLost } from './known-destinations.ts'

/** Addresses up to 0xffff: the zero address and the precompiled contracts of every EVM chain. */
const precompile = /^0{36}/

/** Checks `0x` and 40 hexadecimal digits. Mixed case must match the EIP-55 checksum. */
export function checkEvmAddress(address: string, policy: AddressPolicy): AddressCheck {
  if (/^(?:0x)?[0-9a-fA-F]{64}$/.test(address)) {
    return refuse('secret_key', '64 digits are a private key or a transaction hash, no address.')
  }
  if (!address.startsWith('0x')) {
    return refuse('format', 'The address must start with 0x; names are not resolved.')
  }
  const digits = address.slice(2)
  if (!/^[0-9a-fA-F]{40}$/.test(digits)) {
    return refuse('length', 'The address must be 0x and 40 hexadecimal digits.')
  }
  const lower = digits.toLowerCase()
  const isSingleCase = digits === lower || digits === digits.toUpperCase()
  if (!isSingleCase && digits !== mixCase(lower)) {
    return refuse('checksum', 'The EIP-55 checksum in its upper and lower case is wrong.')
  }
  if (policy.requireEvmChecksum === true && digits !== mixCase(lower)) {
    return refuse('checksum_missing', 'The address must be in its EIP-55 mixed-case form.')
  }
  if (precompile.test(lower)) {
    const detail =
      'The address is the zero address, a burn address or a precompiled contract; send the address of the recipient’s own wallet.'
    return refuse('precompile', detail)
  }
  return refuseLost(policy, lower) ?? accept('evm')
}

/** The EIP-55 form of a valid address. */
export const mixedCaseEvmAddress = (address: string): string =>
  `0x${mixCase(address.slice(2).toLowerCase())}`

/** Encodes 20 bytes in EIP-55 form. */
export const encodeEvmAddress = (payload: Uint8Array): string => `0x${mixCase(bytesToHex(payload))}`

/** An address is checked first and spelled next, and both need the same digest. */
let latest = { lower: '', mixed: '' }

function mixCase(lower: string): string {
  if (lower !== latest.lower) latest = { lower, mixed: digestCase(lower) }
  return latest.mixed
}

/** EIP-55: a letter is upper case if that digit of the text's keccak-256 is 8 or more. */
function digestCase(lower: string): string {
  const hash = bytesToHex(keccak_256(Buffer.from(lower, 'ascii')))
  let mixed = ''
  for (let index = 0; index < lower.length; index++) {
    const digit = lower.charAt(index)
    mixed += hash.charAt(index) >= '8' ? digit.toUpperCase() : digit
  }
  return mixed
}
