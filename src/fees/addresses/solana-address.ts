import { ed25519 } from '@noble/curves/ed25519.js'
import { base58 } from '@scure/base'
import { attempt } from '../../values/attempt.ts'
import { type AddressCheck, type AddressPolicy, accept, refuse } from './address-check.ts'
import { isKnownToken } from './known-tokens.ts'

const publicKeyBytes = 32
const keyPairBytes = 64

/** Programs that hold no customer funds and that `reservedEnding` does not match. */
const programs: ReadonlySet<string> = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'So11111111111111111111111111111111111111112',
])

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
  if (programs.has(address) || reservedEnding.test(address)) {
    return refuse('program_or_sysvar', 'The address is a program or a system account.')
  }
  if (isKnownToken('SOLANA', address)) {
    return refuse('token_contract', 'The address is a token mint; it cannot hold a deposit.')
  }
  return accept(policy.quick === true || isOnCurve(bytes) ? 'wallet' : 'off-curve')
}

export const encodeSolanaAddress = (payload: Uint8Array): string => base58.encode(payload)

/** Decodes as leniently as Solana's runtime does (ZIP-215): y may be any element of the field. */
const isOnCurve = (bytes: Uint8Array): boolean =>
  attempt(() => ed25519.Point.fromBytes(bytes, true)) !== undefined
