import type { CryptoNetwork } from '../../values/network.ts'
import type { AssetPair } from './asset-pair.ts'
import type { NetworkPlan } from './network-plan.ts'
import type { PriceSource } from './price-source.ts'

/** The operator's document merged over the embedded one, checked and converted. */
export type FeeSchedule = {
  readonly costs: Dated
  readonly prices: Dated
  readonly priceTable: ReadonlyMap<string, TablePrice>
  readonly priceSources: readonly PriceSource[]
  readonly pegged: ReadonlySet<string>
  readonly quote: { readonly ttlSeconds: number; readonly fxMarginBasisPoints: bigint }
  readonly networks: Readonly<Record<CryptoNetwork, NetworkPlan>>
  /** By network, then by asset. Disabled pairs are included. */
  readonly pairs: ReadonlyMap<CryptoNetwork, ReadonlyMap<string, AssetPair>>
}

/** Whether figures are the sample's, which ships with the program, or the operator's. */
type Origin = 'sample' | 'operator'

export type Dated = {
  readonly origin: Origin
  /** The day the figures are of, as `YYYY-MM-DD`, and its first microsecond in UTC. */
  readonly asOf: string
  readonly asOfMicros: bigint
  readonly maxAgeSeconds: number
}

/** In 1e-18 US dollars a coin. */
type TablePrice = { readonly usd: bigint; readonly origin: Origin }
