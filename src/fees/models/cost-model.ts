import type { AddressKind } from '../addresses/address-check.ts'
import type { AssetKind } from './asset-kind.ts'
import { type BitcoinCashRates, bitcoinCashCost } from './bitcoin-cash-model.ts'
import { type ArbitrumRates, type EvmRates, evmCost } from './evm-model.ts'
import { type OpStackRates, opStackCost } from './op-stack-model.ts'
import { type SolanaRates, solanaCost } from './solana-model.ts'
import { type StellarRates, stellarCost } from './stellar-model.ts'
import { type UtxoRates, utxoCost } from './utxo-model.ts'

/** The rates of one network, from the schedule or from a node. */
export type CostModel =
  | UtxoRates
  | BitcoinCashRates
  | EvmRates
  | OpStackRates
  | ArbitrumRates
  | SolanaRates
  | StellarRates

/**
 * The expected cost of one stand-alone withdrawal without margin, in smallest units of the native
 * coin, rounded up. It is not the worst case: an EIP-1559 base fee may rise 361-fold in ten
 * minutes, and the operator bears that risk.
 */
export function costOf(model: CostModel, kind: AssetKind, address: AddressKind): bigint {
  switch (model.family) {
    case 'utxo':
      return utxoCost(model, address)
    case 'bch':
      return bitcoinCashCost(model, address)
    case 'evm':
    case 'arbitrum':
      return evmCost(model, kind)
    case 'op':
      return opStackCost(model, kind)
    case 'solana':
      return solanaCost(model, kind)
    case 'stellar':
      return stellarCost(model)
  }
}
