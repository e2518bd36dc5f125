import assert from 'node:assert/strict'
import { encodeCashAddress } from '../fees/addresses/cash-address.ts'
import { encodeEvmAddress } from '../fees/addresses/evm-address.ts'
import { encodeSolanaAddress } from '../fees/addresses/solana-address.ts'
import { encodeStellarAddress } from '../fees/addresses/stellar-address.ts'
import { bitcoinForms, encodeSegwitAddress, litecoinForms } from '../fees/addresses/utxo-address.ts'
import type { CryptoNetwork } from '../values/network.ts'

/**
 * A valid main-network address over given bytes, for sample worlds and tests: P2WPKH on Bitcoin and Litecoin,
 * P2PKH in CashAddr, EIP-55, base58 and StrKey elsewhere.
 *
 * `payload` is 32 bytes; networks whose addresses hold a 20-byte hash take the first 20, and accept 20 as well.
 */
export function encodeAddress(network: CryptoNetwork, payload: Uint8Array): string {
  const hash = payload.subarray(0, 20)
  assert(payload.length === 32 || payload.length === 20, 'an address is made of 20 or 32 bytes')
  switch (network) {
    case 'BITCOIN':
      return encodeSegwitAddress(bitcoinForms, hash)
    case 'LITECOIN':
      return encodeSegwitAddress(litecoinForms, hash)
    case 'BITCOIN_CASH':
      return encodeCashAddress(hash)
    case 'SOLANA':
      assert(payload.length === 32, 'a Solana address is made of 32 bytes')
      return encodeSolanaAddress(payload)
    case 'STELLAR':
      assert(payload.length === 32, 'a Stellar address is made of 32 bytes')
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
