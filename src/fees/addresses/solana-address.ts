import { ed25519 } from '@noble/curves/ed25519.js'
import { base58 } from '@scure/base'
import { type AddressCheck, type AddressPolicy, accept, refuse } from './address-check.ts'
import { isKnownToken } from './known-tokens.ts'

const publicKeyBytes = 32
const keyPairBytes = 64

/** Programs that hold no funds for anybody, beside those that `reservedEnding` catches. */
const programs: ReadonlySet<string> = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'So11111111111111111111111111111111111111112',
])

/**
 * The system program, the loaders, every sysvar and the incinerator end in a run of ones. Nobody holds the key
 * of such an address: sixteen ones at the end would take 58^16 attempts.
 */
const reservedEnding = /1{16}$/

/**
 * Base58 of 32 bytes. There is no checksum: a typo is caught by its length or alphabet or not at all. A point
 * off the curve (a program's or a multisig's account) is told as its kind, since such accounts do hold funds.
 */
export function checkSolanaAddress(address: string, policy: AddressPolicy): AddressCheck {
  let bytes: Uint8Array
  try {
    bytes = base58.decode(address)
  } catch {
    return refuse('charset', 'The address has a character that base58 does not.')
  }
  if (bytes.length === keyPairBytes) {
    return refuse('length', 'The text is a signature or a secret key pair, not an address.')
  }
  if (bytes.length !== publicKeyBytes) {
    return refuse('length', 'The address must be base58 of 32 bytes.')
  }
  if (programs.has(address) || reservedEnding.test(address)) {
    return refuse('program_or_sysvar', 'The address is a program or a system account.')
  }
  if (isKnownToken('SOLANA', address)) {
    return refuse('token_contract', 'The address is a token mint; it cannot hold a deposit.')
  }
  return accept(policy.quick === true || isOnCurve(bytes) ? 'wallet' : 'off-curve')
}

export const encodeSolanaAddress = (payload: Uint8Array): string => base58.encode(payload)

/** Read as leniently as Solana's own runtime does (ZIP-215), which takes y from the whole field's range. */
function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes, true)
    return true
  } catch {
    return false
  }
}
