import type { CryptoNetwork } from '@bursar/base'
import type { CostModel } from './cost-model.ts'
import type { Dated, FeeSchedule } from './schedule/read-schedule.ts'

/** Costs that a node reported and that passed every check. `host` is the node's, for logs. */
export type LiveCosts = {
  readonly model: CostModel
  readonly observedAtMicros: bigint
  readonly host: string
}

/** The sources' lowest and highest price in 1e-18 US dollars, or that they disagree. */
export type LivePrice =
  | {
      readonly agreed: true
      readonly low: bigint
      readonly high: bigint
      readonly observedAtMicros: bigint
      readonly maxAgeSeconds: number
    }
  | { readonly agreed: false; readonly observedAtMicros: bigint; readonly maxAgeSeconds: number }

/** The input of a quote. Replaced as a whole, so that a quote never sees half an update. */
export type FeeBasis = {
  readonly schedule: FeeSchedule
  /** The operator accepts fees by the sample schedule and its placeholder prices. */
  readonly acceptsSample: boolean
  readonly costs: ReadonlyMap<CryptoNetwork, LiveCosts>
  readonly prices: ReadonlyMap<string, LivePrice>
}

/** Why no fee can be quoted. Each cause is a 503 that the caller may retry. */
export type Unavailable = {
  readonly ok: false
  readonly cause:
    | 'sample-not-accepted'
    | 'schedule-too-old'
    | 'no-fresh-costs'
    | 'prices-too-old'
    | 'prices-diverge'
    | 'off-peg'
}

/** The causes as operators read them. Interfaces and metrics have their names. */
export const causeInWords: Readonly<Record<Unavailable['cause'], string>> = {
  'sample-not-accepted': 'the fee schedule has only sample values, which are not accepted',
  'schedule-too-old': 'the costs of the fee schedule are too old',
  'no-fresh-costs': 'no node has reported fresh costs',
  'prices-too-old': 'the prices are too old',
  'prices-diverge': 'the price sources disagree',
  'off-peg': 'the asset has left its peg',
}

export type CostsInForce =
  | {
      readonly ok: true
      readonly model: CostModel
      readonly source: 'live' | 'schedule'
      readonly ageSeconds: number
    }
  | Unavailable

/** The node's costs while they are fresh, otherwise the schedule's if its settings allow them. */
export function costsInForce(basis: FeeBasis, network: CryptoNetwork, now: bigint): CostsInForce {
  const plan = basis.schedule.networks[network]
  const live = basis.costs.get(network)
  if (live !== undefined) {
    const ageSeconds = ageOf(live.observedAtMicros, now)
    if (ageSeconds <= plan.maxAgeSeconds) {
      return { ok: true, model: live.model, source: 'live', ageSeconds }
    }
  }
  if (plan.endpoints.length > 0 && plan.onStale === 'fail') {
    return { ok: false, cause: 'no-fresh-costs' }
  }
  const refusal = scheduleRefusal(basis, now)
  if (refusal !== undefined) return refusal
  const ageSeconds = ageOf(basis.schedule.costs.asOfMicros, now)
  return { ok: true, model: plan.rates, source: 'schedule', ageSeconds }
}

export type PriceInForce =
  | {
      readonly ok: true
      readonly low: bigint
      readonly high: bigint
      readonly source: 'live' | 'table'
      readonly ageSeconds: number
    }
  | Unavailable

/** The live price while it is fresh, otherwise the table's if its date allows. */
export function priceInForce(basis: FeeBasis, symbol: string, now: bigint): PriceInForce {
  const live = basis.prices.get(symbol)
  if (live !== undefined) {
    const ageSeconds = ageOf(live.observedAtMicros, now)
    if (ageSeconds <= live.maxAgeSeconds) {
      if (!live.agreed) return { ok: false, cause: 'prices-diverge' }
      return { ok: true, low: live.low, high: live.high, source: 'live', ageSeconds }
    }
  }
  const { prices, priceTable } = basis.schedule
  const price = priceTable.get(symbol)
  if (price === undefined) return { ok: false, cause: 'prices-too-old' }
  if (price.origin === 'sample' && !basis.acceptsSample) {
    return { ok: false, cause: 'sample-not-accepted' }
  }
  if (price.origin === 'operator' && !isFresh(prices, now)) {
    return { ok: false, cause: 'prices-too-old' }
  }
  const ageSeconds = ageOf(prices.asOfMicros, now)
  return { ok: true, low: price.usd, high: price.usd, source: 'table', ageSeconds }
}

/** Age in whole seconds; 0 for a time in the future, as after a clock was set back. */
export function ageOf(atMicros: bigint, now: bigint): number {
  return now <= atMicros ? 0 : Number((now - atMicros) / 1_000_000n)
}

/** An operator who dates their own costs or prices accepts the schedule's costs. */
function scheduleRefusal(basis: FeeBasis, now: bigint): Unavailable | undefined {
  const { schedule, acceptsSample } = basis
  const own = [schedule.costs, schedule.prices].filter((dated) => dated.origin === 'operator')
  if (own.some((dated) => isFresh(dated, now)) || acceptsSample) return undefined
  return { ok: false, cause: own.length === 0 ? 'sample-not-accepted' : 'schedule-too-old' }
}

/** Allows for time zones. A date further ahead is a typing error and would not grow old in time. */
const aheadMicrosMax = 86_400_000_000n

const isFresh = (dated: Dated, now: bigint): boolean =>
  dated.origin === 'operator' &&
  dated.asOfMicros - now <= aheadMicrosMax &&
  ageOf(dated.asOfMicros, now) <= dated.maxAgeSeconds
