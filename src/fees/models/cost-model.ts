import type { AddressKind } from '../addresses/address-check.ts'
import { type ArbitrumRates, arbitrumCost } from './arbitrum-model.ts'
import type { AssetKind } from './asset-kind.ts'
import { type BitcoinCashRates, bitcoinCashCost } from './bitcoin-cash-model.ts'
import { type EvmRates, evmCost } from './evm-model.ts'
import { type OpStackRates, opStackCost } from './op-stack-model.ts'
import { type SolanaRates, solanaCost } from './solana-model.ts'
import { type StellarRates, stellarCost } from './stellar-model.ts'
import { type UtxoRates, utxoCost } from './utxo-model.ts'

/** What a withdrawal costs on one network: plain figures, from the schedule or from a node, never changed. */
export type CostModel =
  | UtxoRates
  | BitcoinCashRates
  | EvmRates
  | OpStackRates
  | ArbitrumRates
  | SolanaRates
  | StellarRates

/**
 * The expected cost of one stand-alone withdrawal, in smallest units of the network's native coin, rounded up,
 * without margin. Expected, not worst: an EIP-1559 base fee may rise 361-fold in ten minutes, and no margin
 * covers that; the house carries the tail.
 */
export function costOf(model: CostModel, kind: AssetKind, address: AddressKind): bigint {
  switch (model.family) {
    case 'utxo':
      return utxoCost(model, address)
    case 'bch':
      return bitcoinCashCost(model, address)
    case 'evm':
      return evmCost(model, kind)
    case 'op':
      return opStackCost(model, kind)
    case 'arbitrum':
      return arbitrumCost(model, kind)
    case 'solana':
      return solanaCost(model, kind)
    case 'stellar':
      return stellarCost(model)
  }
}
