import type { AssetKind } from './asset-kind.ts'

/** One figure for the native coin and one for a token. */
export type PerTransfer = { readonly native: bigint; readonly erc20: bigint }

/**
 * EVM networks. The gas price is base fee plus tip, in wei. On Arbitrum One, gas includes the L1
 * part; the sequencer ignores tips, so the price is the base fee.
 */
export type EvmRates = {
  readonly family: 'evm' | 'arbitrum'
  readonly gasPriceWei: bigint
  readonly gas: PerTransfer
}

/** Base, Ink and X Layer: gas on the chain itself and fees for its data on L1, all in wei. */
export type OpStackRates = Omit<EvmRates, 'family'> & {
  readonly family: 'op'
  readonly l1FeeWei: PerTransfer
  readonly operatorFeeWei: PerTransfer
}

/** In wei: 65,000 gas at 6 gwei are 0.00039 ETH. `eth_estimateGas` leaves out the L1 fee. */
export function evmCost(rates: EvmRates | OpStackRates, kind: AssetKind): bigint {
  const figure = kind === 'native' ? 'native' : 'erc20'
  const l2FeeWei = rates.gas[figure] * rates.gasPriceWei
  if (rates.family !== 'op') return l2FeeWei
  return l2FeeWei + rates.l1FeeWei[figure] + rates.operatorFeeWei[figure]
}
