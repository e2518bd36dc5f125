import type { AssetKind } from './asset-kind.ts'
import { type EvmRates, perTransfer } from './evm-model.ts'

/** Arbitrum One. Gas holds the L1 part as extra gas; tips are ignored, so the price is the base fee in wei. */
export type ArbitrumRates = Omit<EvmRates, 'family'> & { readonly family: 'arbitrum' }

/** 120,000 gas at 0.1 gwei are 0.000012 ETH. */
export const arbitrumCost = (rates: ArbitrumRates, kind: AssetKind): bigint =>
  perTransfer(rates.gas, kind) * rates.gasPriceWei
