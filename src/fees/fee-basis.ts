import type { CryptoNetwork } from '../values/network.ts'
import type { CostModel } from './models/cost-model.ts'
import type { Dated, FeeSchedule } from './schedule/fee-schedule.ts'

/** What a node said, after every guard. `host` is where it came from, for logs. */
export type LiveCosts = {
  readonly model: CostModel
  readonly observedAtMicros: bigint
  readonly host: string
}

/**
 * What the price sources said of one symbol, in 1e-18 US dollars: the lowest and the highest of them, or that
 * they lie too far apart to believe either.
 */
export type LivePrice =
  | {
      readonly agreed: true
      readonly low: bigint
      readonly high: bigint
      readonly observedAtMicros: bigint
      readonly maxAgeSeconds: number
    }
  | { readonly agreed: false; readonly observedAtMicros: bigint; readonly maxAgeSeconds: number }

/** Everything a quote reads. One immutable value; the refresher swaps it whole, so that no quote sees half. */
export type FeeBasis = {
  readonly schedule: FeeSchedule
  /** The operator takes the sample schedule and its placeholder prices as good enough to charge by. */
  readonly acceptsSample: boolean
  readonly costs: ReadonlyMap<CryptoNetwork, LiveCosts>
  readonly prices: ReadonlyMap<string, LivePrice>
}

/** Why nothing may be quoted; each is a 503 with the same remedy for the caller: later. */
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

export type CostsInForce =
  | {
      readonly ok: true
      readonly model: CostModel
      readonly source: 'live' | 'schedule'
      readonly ageSeconds: number
    }
  | Unavailable

/** The node's figures while they are fresh, else the schedule's where configuration and its date allow them. */
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

/** The live price while it is fresh, else the table's where the operator vouches for it. In 1e-18 US dollars. */
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

/** Whole seconds, never below 0: a clock that was set back must not make a figure look fresher than new. */
export function ageOf(atMicros: bigint, now: bigint): number {
  return now <= atMicros ? 0 : Number((now - atMicros) / 1_000_000n)
}

/** An operator who dated a schedule or prices of their own has taken the schedule as theirs. */
function scheduleRefusal(
  { schedule, acceptsSample }: FeeBasis,
  now: bigint,
): Unavailable | undefined {
  const own = [schedule.costs, schedule.prices].filter((dated) => dated.origin === 'operator')
  if (own.some((dated) => isFresh(dated, now)) || acceptsSample) return undefined
  return { ok: false, cause: own.length === 0 ? 'sample-not-accepted' : 'schedule-too-old' }
}

/** A day ahead is another time zone's today; a date further on is a slip that would never grow old. */
const aheadMicrosMax = 86_400_000_000n

const isFresh = (dated: Dated, now: bigint): boolean =>
  dated.origin === 'operator' &&
  dated.asOfMicros - now <= aheadMicrosMax &&
  ageOf(dated.asOfMicros, now) <= dated.maxAgeSeconds
