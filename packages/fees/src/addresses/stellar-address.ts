import { attempt } from '@bursar/base'
import { ed25519 } from '@noble/curves/ed25519.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { base32nopad } from '@scure/base'
import { type AddressCheck, type AddressPolicy, accept, refuse } from './address-check.ts'
import { refuseLost } from './known-destinations.ts'

/** StrKey version bytes (SEP-23) by the first letter that they produce. */
const versions: Readonly<Record<string, number>> = { G: 6 << 3, M: 12 << 3 }

const accountCharacters = 56
const muxedCharacters = 69
const publicKeyBytes = 32

/**
 * Checks a StrKey account `G…` (32 bytes) or muxed account `M…` (32 bytes and a 64-bit id), each
 * with a CRC-16. Seeds, contracts, claimable balances, hashes and federation names are refused.
 * So is a key that can sign nothing: the account could never set another signer.
 */
export function checkStellarAddress(address: string, policy: AddressPolicy): AddressCheck {
  const isSeedLike = /^s[a-z2-7]{50,60}$/i.test(address)
  if (isSeedLike) {
    return refuse('secret_key', 'This is a secret seed, not an address: move the funds it guards.')
  }
  if (!/^[A-Z2-7]+$/.test(address)) {
    return refuse('charset', 'The address must be a G… or M… account in upper-case base32.')
  }
  const letter = address.charAt(0)
  const version = versions[letter]
  if (version === undefined) {
    return refuse('unsupported_kind', 'Only accounts, G… and M…, can receive a withdrawal.')
  }
  const fault = lengthFault(address, letter === 'G' ? accountCharacters : muxedCharacters)
  if (fault !== undefined) return fault
  const bytes = attempt(() => base32nopad.decode(address))
  if (bytes === undefined) return refuse('padding', 'The last character holds unused bits.')
  if (bytes[0] !== version) return refuse('unsupported_kind', 'The kind of account is unknown.')
  if (readChecksum(bytes) !== crc16(bytes.subarray(0, -2))) {
    return refuse('checksum', 'The checksum of the address is wrong.')
  }
  const key = bytes.subarray(1, 1 + publicKeyBytes)
  // A small muxed id is a run of zeros in the text, so only the account is searched for patterns.
  const lost = refuseLost(policy, bytesToHex(key), encodeStellarAddress(key))
  if (lost !== undefined) return lost
  if (policy.quick !== true && !canSign(key)) {
    return refuse('off_curve', 'No key can sign for this account; copy the address again.')
  }
  if (letter === 'G') return accept('account')
  const memoId = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(1 + publicKeyBytes)
  return { valid: true, kind: 'muxed', memoId: memoId.toString() }
}

/** Stellar's nodes refuse signatures by keys in another spelling or of a small order. */
const canSign = (key: Uint8Array): boolean =>
  attempt(() => ed25519.Point.fromBytes(key))?.isSmallOrder() === false

/** The account `G…` of a valid address. */
export const stellarAccountOf = (address: string): string =>
  encodeStellarAddress(base32nopad.decode(address).subarray(1, 1 + publicKeyBytes))

/** Encodes the account of this seed, as a wallet does. */
export const encodeStellarAccount = (seed: Uint8Array): string =>
  encodeStellarAddress(ed25519.getPublicKey(seed))

/** Encodes 32 bytes as an account, or as a muxed account if `memoId` is given. */
export function encodeStellarAddress(payload: Uint8Array, memoId?: bigint): string {
  const id = Buffer.alloc(memoId === undefined ? 0 : 8)
  if (memoId !== undefined) id.writeBigUInt64BE(memoId)
  const version = memoId === undefined ? versions.G : versions.M
  const body = Buffer.concat([Buffer.of(version ?? 0), payload, id])
  const checksum = Buffer.alloc(2)
  checksum.writeUInt16LE(crc16(body))
  return base32nopad.encode(Buffer.concat([body, checksum]))
}

function lengthFault(address: string, characters: number): AddressCheck | undefined {
  if (address.length === characters) return undefined
  // No whole number of bytes encodes to these lengths, so SEP-23 treats them as wrong padding.
  return [1, 3, 6].includes(address.length % 8)
    ? refuse('padding', `The address must have ${characters} characters, without padding.`)
    : refuse('length', `The address must have ${characters} characters.`)
}

const readChecksum = (bytes: Uint8Array): number => Buffer.from(bytes.subarray(-2)).readUInt16LE()

/** CRC-16/XMODEM: polynomial 0x1021, initial value 0. */
function crc16(bytes: Uint8Array): number {
  let remainder = 0
  for (const byte of bytes) {
    remainder ^= byte << 8
    for (let bit = 0; bit < 8; bit++) {
      remainder = remainder & 0x8000 ? ((remainder << 1) ^ 0x1021) & 0xffff : remainder << 1
    }
  }
  return remainder
}
