import { attempt } from '@bursar/base'
import { ed25519 } from '@noble/curves/ed25519.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { base58 } from '@scure/base'
import { type AddressCheck, type AddressPolicy, accept, refuse } from './address-check.ts'
import { refuseAs, refuseLost } from './known-destinations.ts'

const publicKeyBytes = 32
const keyPairBytes = 64

/** Programs, loaders and sysvars end in a run of ones. No key can be found for such an address. */
const reservedEnding = /1{16}$/

/**
 * Checks base58 of 32 bytes. There is no checksum, so only length and alphabet reveal a typo. A
 * point off the curve (the account of a program or a multisig) is accepted, since such accounts
 * hold funds.
 */
export function checkSolanaAddress(address: string, policy: AddressPolicy): AddressCheck {
  const bytes = attempt(() => base58.decode(address))
  if (bytes === undefined) {
    return refuse('charset', 'The address has a character that base58 does not.')
  }
  if (bytes.length === keyPairBytes) {
    return refuse('length', 'The text is a signature or a secret key pair, not an address.')
  }
  if (bytes.length !== publicKeyBytes) {
    return refuse('length', 'The address must be base58 of 32 bytes.')
  }
  if (reservedEnding.test(address)) return refuseAs('program_or_sysvar')
  const lost = refuseLost(policy, bytesToHex(bytes), address)
  if (lost !== undefined) return lost
  if (policy.quick === true) return accept('wallet')
  const point = decodePoint(bytes)
  if (point === undefined) return accept('off-curve')
  return point.isSmallOrder() ? refuseAs('no_key') : accept('wallet')
}

export const encodeSolanaAddress = (payload: Uint8Array): string => base58.encode(payload)

/** Decodes as leniently as Solana's runtime does (ZIP-215): y may be any element of the field. */
const decodePoint = (bytes: Uint8Array) => attempt(() => ed25519.Point.fromBytes(bytes, true))
