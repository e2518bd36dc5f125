import type { AssetKind } from './asset-kind.ts'

/** One figure for the native coin and one for a token. */
export type PerTransfer = { readonly native: bigint; readonly erc20: bigint }

/** Ethereum and Polygon. The gas price is base fee plus tip, in wei. */
export type EvmRates = {
  readonly family: 'evm'
  readonly gasPriceWei: bigint
  readonly gas: PerTransfer
}

/** Arbitrum One. Gas includes the L1 part; the price is the base fee, as tips are ignored. */
export type ArbitrumRates = Omit<EvmRates, 'family'> & { readonly family: 'arbitrum' }

export const perTransfer = (figures: PerTransfer, kind: AssetKind): bigint =>
  kind === 'native' ? figures.native : figures.erc20

/** Gas times price, in wei: 65,000 gas at 6 gwei are 0.00039 ETH. */
export const evmCost = (rates: Pick<EvmRates, 'gas' | 'gasPriceWei'>, kind: AssetKind): bigint =>
  perTransfer(rates.gas, kind) * rates.gasPriceWei
