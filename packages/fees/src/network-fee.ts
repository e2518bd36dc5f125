import { divideUp, largest, roundUpToStep, smallest } from '@bursar/base'
import type { AddressKind } from './addresses/address-check.ts'
import { costOf } from './cost-model.ts'
import { costsInForce, type FeeBasis, priceInForce, type Unavailable } from './fee-basis.ts'
import type { AssetPair } from './schedule/asset-pair.ts'
import { priceDecimals } from './schedule/read-schedule.ts'

/** The sources of a fee's figures, for logs and readiness. Customers never see them. */
export type FeeOrigin = {
  readonly costSource: 'live' | 'schedule'
  readonly costAgeSeconds: number
  /** Absent for a network's own coin, whose fee needs no price. */
  readonly priceSource?: 'live' | 'table'
  readonly priceAgeSeconds?: number
}

export type NetworkFee =
  | {
      readonly ok: true
      /** The flat part of the fee, in smallest units of the asset. */
      readonly feeUnits: bigint
      /** The expected cost in smallest units of the native coin, before the margin. */
      readonly costUnits: bigint
      readonly origin: FeeOrigin
    }
  | Unavailable

const wholeBasisPoints = 10_000n
const oneDollar = 10n ** BigInt(priceDecimals)
/** A stablecoin under 97 cents has lost its peg, and no margin makes its price safe. */
const pegFloor = (oneDollar * 97n) / 100n

/**
 * Computes max(min_fee, ceil_to(fee_increment, cost × (1 + margin) × native price ÷ asset price ×
 * (1 + fx margin))).
 *
 * There is one division, rounded up, then up to the increment. The highest native price and the
 * lowest asset price are used; a native coin needs neither. 0.00039 ETH at 5,000 dollars with
 * margins of 50 % and 2 % are 2.99 USDC.
 */
export function networkFee(
  basis: FeeBasis,
  pair: AssetPair,
  address: AddressKind,
  now: bigint,
): NetworkFee {
  const plan = basis.schedule.networks[pair.network]
  const costs = costsInForce(basis, pair.network, now)
  if (!costs.ok) return costs
  const costUnits = costOf(costs.model, pair.kind, address)
  const costBasisPoints = costUnits * (wholeBasisPoints + plan.marginBasisPoints)
  const costOrigin = { costSource: costs.source, costAgeSeconds: costs.ageSeconds }
  if (pair.kind === 'native') {
    const units = divideUp(costBasisPoints, wholeBasisPoints)
    return { ok: true, feeUnits: chargeable(pair, units), costUnits, origin: costOrigin }
  }
  const native = priceInForce(basis, plan.native, now)
  if (!native.ok) return native
  const asset = assetPrice(basis, pair.asset, now)
  if (!asset.ok) return asset
  const fxBasisPoints = wholeBasisPoints + basis.schedule.quote.fxMarginBasisPoints
  const units = divideUp(
    costBasisPoints * native.high * fxBasisPoints * 10n ** BigInt(pair.decimals),
    wholeBasisPoints * asset.low * wholeBasisPoints * 10n ** BigInt(plan.nativeDecimals),
  )
  const isTable = native.source === 'table' || asset.source === 'table'
  const origin: FeeOrigin = {
    ...costOrigin,
    priceSource: isTable ? 'table' : 'live',
    priceAgeSeconds: Math.max(native.ageSeconds, asset.ageSeconds),
  }
  return { ok: true, feeUnits: chargeable(pair, units), costUnits, origin }
}

/** A stablecoin counts as one dollar at most, even if a thin market pays more for it. */
function assetPrice(basis: FeeBasis, asset: string, now: bigint) {
  const price = priceInForce(basis, asset, now)
  if (!price.ok || !basis.schedule.pegged.has(asset)) return price
  if (price.low < pegFloor) return { ok: false, cause: 'off-peg' } as const
  return { ...price, low: smallest(price.low, oneDollar) }
}

function chargeable(pair: AssetPair, units: bigint): bigint {
  return largest(roundUpToStep(units, pair.feeIncrementUnits), pair.feeUnitsMin)
}
