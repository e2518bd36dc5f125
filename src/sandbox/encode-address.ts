import assert from 'node:assert/strict'
import { encodeCashAddress } from '../fees/addresses/cash-address.ts'
import { encodeEvmAddress } from '../fees/addresses/evm-address.ts'
import { encodeSolanaAddress } from '../fees/addresses/solana-address.ts'
import { encodeStellarAddress } from '../fees/addresses/stellar-address.ts'
import { bitcoinForms, encodeSegwitAddress, litecoinForms } from '../fees/addresses/utxo-address.ts'
import type { CryptoNetwork } from '../values/network.ts'

/**
 * Encodes bytes as a valid main-network address, for sample data and tests: P2WPKH on Bitcoin and
 * Litecoin, P2PKH in CashAddr, EIP-55, base58 and StrKey elsewhere.
 *
 * `payload` is 32 bytes. Networks with 20-byte hashes use the first 20 and accept 20 bytes as well.
 */
export function encodeAddress(network: CryptoNetwork, payload: Uint8Array): string {
  const hash = payload.subarray(0, 20)
  assert(payload.length === 32 || payload.length === 20, 'an address needs 20 or 32 bytes')
  switch (network) {
    case 'BITCOIN':
      return encodeSegwitAddress(bitcoinForms, hash)
    case 'LITECOIN':
      return encodeSegwitAddress(litecoinForms, hash)
    case 'BITCOIN_CASH':
      return encodeCashAddress(hash)
    case 'SOLANA':
      assert(payload.length === 32, 'a Solana address needs 32 bytes')
      return encodeSolanaAddress(payload)
    case 'STELLAR':
      assert(payload.length === 32, 'a Stellar address needs 32 bytes')
      return encodeStellarAddress(payload)
    case 'ETHEREUM':
    case 'POLYGON_POS':
    case 'BASE':
    case 'ARBITRUM_ONE':
    case 'INK':
    case 'XLAYER':
      return encodeEvmAddress(hash)
  }
}
