import type { AssetKind } from './asset-kind.ts'
import { type EvmRates, type PerTransfer, perTransfer } from './evm-model.ts'

/** Base, Ink and X Layer: what the chain's own gas costs, and what it charges for its data on L1. All in wei. */
export type OpStackRates = Omit<EvmRates, 'family'> & {
  readonly family: 'op'
  readonly l1FeeWei: PerTransfer
  readonly operatorFeeWei: PerTransfer
}

/**
 * `eth_estimateGas` leaves the L1 part out, although the balance pays it: a transfer on a test chain cost gas
 * times price plus exactly the oracle's figure.
 */
export const opStackCost = (rates: OpStackRates, kind: AssetKind): bigint =>
  perTransfer(rates.gas, kind) * rates.gasPriceWei +
  perTransfer(rates.l1FeeWei, kind) +
  perTransfer(rates.operatorFeeWei, kind)
