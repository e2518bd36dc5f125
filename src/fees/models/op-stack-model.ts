import type { AssetKind } from './asset-kind.ts'
import { type EvmRates, evmCost, type PerTransfer, perTransfer } from './evm-model.ts'

/** Base, Ink and X Layer: gas on the chain itself and fees for its data on L1, all in wei. */
export type OpStackRates = Omit<EvmRates, 'family'> & {
  readonly family: 'op'
  readonly l1FeeWei: PerTransfer
  readonly operatorFeeWei: PerTransfer
}

/** The balance pays the L1 fee too, although `eth_estimateGas` leaves it out. */
export const opStackCost = (rates: OpStackRates, kind: AssetKind): bigint =>
  evmCost(rates, kind) + perTransfer(rates.l1FeeWei, kind) + perTransfer(rates.operatorFeeWei, kind)
