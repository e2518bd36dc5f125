import { type CryptoNetwork, cryptoNetworks, printDecimal } from '@bursar/base'
import { costsInForce, type FeeBasis, type Unavailable } from './fee-basis.ts'
import { networkFee } from './network-fee.ts'
import { traitsOf } from './networks.ts'
import { amountUnitsMin } from './quote-fee.ts'
import type { AssetPair } from './schedule/asset-pair.ts'

/** One (asset, network) pair as `fee schedule` prints it. Figures are decimal text. */
export type ScheduleRow = Omit<
  AssetPair,
  'feeIncrementUnits' | 'feeUnitsMin' | 'amountUnitsMin' | 'transferPpm'
> & {
  readonly marginBasisPoints: number
  /** The minimum for the most common address kind of the network. */
  readonly minimum: string
  readonly charge:
    | {
        readonly cost: string
        readonly costAsset: string
        readonly fee: string
        readonly source: string
        readonly ageSeconds: number
      }
    | { readonly unavailable: Unavailable['cause'] }
}

/** Every pair of the schedule in force, disabled ones included, in the contract's order. */
export function describeSchedule(basis: FeeBasis, now: bigint): ScheduleRow[] {
  return pairsOf(basis).map((pair) => describePair(basis, pair, now))
}

const pairsOf = ({ schedule }: FeeBasis): readonly AssetPair[] =>
  cryptoNetworks.flatMap((network) => [...(schedule.pairs.get(network)?.values() ?? [])])

export type NetworkState = {
  readonly network: CryptoNetwork
  readonly source: 'live' | 'schedule' | 'unavailable'
  readonly ageSeconds: number | undefined
  readonly cause: Unavailable['cause'] | undefined
  /** The host of the last node that answered. Its URL may hold a key, so it is left out. */
  readonly host: string | undefined
}

/** The source and age of each network's costs, for logs and the operator's `/readyz`. */
export function describeNetworks(basis: FeeBasis, now: bigint): NetworkState[] {
  return cryptoNetworks.map((network) => {
    const costs = costsInForce(basis, network, now)
    return {
      network,
      source: costs.ok ? costs.source : 'unavailable',
      ageSeconds: costs.ok ? costs.ageSeconds : undefined,
      cause: costs.ok ? undefined : costs.cause,
      host: basis.costs.get(network)?.host,
    }
  })
}

export type OfferedPair = {
  readonly network: CryptoNetwork
  readonly asset: string
  /** Why the pair has no fee now. Undefined where it has one. */
  readonly cause: Unavailable['cause'] | undefined
}

/** The pairs that can be withdrawn, with the state of their fees. */
export const offeredPairs = (basis: FeeBasis, now: bigint): readonly OfferedPair[] =>
  pairsOf(basis)
    .filter(({ enabled }) => enabled)
    .map((pair) => {
      const { network, asset } = pair
      const fee = networkFee(basis, pair, traitsOf(network).commonKind, now)
      return { network, asset, cause: fee.ok ? undefined : fee.cause }
    })

/** The causes for which no pair that is offered has a fee. Empty where at least one has a fee. */
export function causesWithoutFee(offered: readonly OfferedPair[]): readonly Unavailable['cause'][] {
  const causes = offered.flatMap(({ cause }) => cause ?? [])
  return causes.length === offered.length ? [...new Set(causes)] : []
}

function describePair(basis: FeeBasis, pair: AssetPair, now: bigint): ScheduleRow {
  const plan = basis.schedule.networks[pair.network]
  const address = traitsOf(pair.network).commonKind
  const fee = networkFee(basis, pair, address, now)
  const charge = fee.ok
    ? {
        cost: printDecimal(fee.costUnits, plan.nativeDecimals),
        costAsset: plan.native,
        fee: printDecimal(fee.feeUnits, pair.decimals),
        source: fee.origin.costSource,
        ageSeconds: fee.origin.costAgeSeconds,
      }
    : { unavailable: fee.cause }
  const { asset, network, kind, decimals, token, certainty, enabled } = pair
  const described = { asset, network, kind, decimals, token, certainty, enabled }
  return {
    ...described,
    marginBasisPoints: Number(plan.marginBasisPoints),
    minimum: printDecimal(amountUnitsMin(basis, pair, address), pair.decimals),
    charge,
  }
}
