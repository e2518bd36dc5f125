import type { AssetKind } from './asset-kind.ts'

/** One figure for the native coin, one for a token; gas, or wei, as the field says. */
export type PerTransfer = { readonly native: bigint; readonly erc20: bigint }

/** Ethereum and Polygon. The gas price is base fee and tip together, in wei. */
export type EvmRates = {
  readonly family: 'evm'
  readonly gasPriceWei: bigint
  readonly gas: PerTransfer
}

export const perTransfer = (figures: PerTransfer, kind: AssetKind): bigint =>
  kind === 'native' ? figures.native : figures.erc20

/** Gas times price, in wei. 65,000 gas at 6 gwei are 0.00039 ETH. */
export const evmCost = (rates: EvmRates, kind: AssetKind): bigint =>
  perTransfer(rates.gas, kind) * rates.gasPriceWei
