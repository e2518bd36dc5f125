import type { AddressKind } from '../addresses/address-check.ts'
import type { AssetKind } from './asset-kind.ts'
import { type EvmRates, evmCost, type OpStackRates } from './evm-model.ts'
import { type SolanaRates, solanaCost } from './solana-model.ts'
import { type StellarRates, stellarCost } from './stellar-model.ts'
import { type UtxoRates, utxoCost } from './utxo-model.ts'

/** The rates of one network, from the schedule or from a node. */
export type CostModel = UtxoRates | EvmRates | OpStackRates | SolanaRates | StellarRates

/**
 * The expected cost of one stand-alone withdrawal without margin, in smallest units of the native
 * coin, rounded up. It is not the worst case: an EIP-1559 base fee may rise 361-fold in ten
 * minutes, and the operator bears that risk.
 */
export function costOf(model: CostModel, kind: AssetKind, address: AddressKind): bigint {
  switch (model.family) {
    case 'utxo':
    case 'bch':
      return utxoCost(model, address)
    case 'evm':
    case 'arbitrum':
    case 'op':
      return evmCost(model, kind)
    case 'solana':
      return solanaCost(model, kind)
    case 'stellar':
      return stellarCost(model)
  }
}
