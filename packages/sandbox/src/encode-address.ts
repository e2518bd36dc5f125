import assert from 'node:assert/strict'
import type { CryptoNetwork } from '@bursar/base'
import { traitsOf } from '@bursar/fees'

/**
 * Encodes bytes as a valid main-network address, for sample data and tests: P2WPKH on Bitcoin and
 * Litecoin, P2PKH in CashAddr, EIP-55, base58 and StrKey elsewhere.
 *
 * `payload` is 32 bytes. Networks with 20-byte hashes use the first 20 and accept 20 bytes as well.
 */
export function encodeAddress(network: CryptoNetwork, payload: Uint8Array): string {
  const { encodeAddress: encode, payloadBytes } = traitsOf(network)
  assert(payload.length === 32 || payload.length === 20, 'an address needs 20 or 32 bytes')
  assert(payload.length >= payloadBytes, `an address on ${network} needs ${payloadBytes} bytes`)
  return encode(payload.subarray(0, payloadBytes))
}
