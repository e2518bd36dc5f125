import { largest, smallest } from '../../../values/bounds.ts'
import { ageOf, type LivePrice } from '../../fee-basis.ts'

/** A price in 1e-18 US dollars, and when its source says that it was made. */
export type ObservedPrice = { readonly usd: bigint; readonly observedAtMicros: bigint }

export type PriceStanding = {
  readonly accepted?: ObservedPrice
  readonly pending?: ObservedPrice
}

export type PricedFrom = ObservedPrice & { readonly maxAgeSeconds: number }

/** A price that moved by more than a fifth, and the very first one, waits until a second look agrees. */
export function takePrice(standing: PriceStanding, observed: ObservedPrice): PriceStanding {
  const known = [standing.accepted, standing.pending].filter((price) => price !== undefined)
  const isConfirmed = known.some(({ usd }) => isWithin(usd, observed.usd, 20n))
  if (isConfirmed) return { accepted: observed }
  return { ...standing, pending: observed }
}

/**
 * What several sources say of one symbol: lowest and highest of those that are fresh. Sources more than 2 %
 * apart agree on nothing, and nothing is quoted until they do. Undefined where none is fresh.
 */
export function combinePrices(sources: readonly PricedFrom[], now: bigint): LivePrice | undefined {
  const fresh = sources.filter(
    ({ observedAtMicros, maxAgeSeconds }) => ageOf(observedAtMicros, now) <= maxAgeSeconds,
  )
  const soonestStale = fresh.toSorted((one, other) => Number(expiry(one) - expiry(other)))[0]
  if (soonestStale === undefined) return undefined
  const { observedAtMicros, maxAgeSeconds, usd } = soonestStale
  const low = smallest(usd, ...fresh.map((price) => price.usd))
  const high = largest(usd, ...fresh.map((price) => price.usd))
  return isWithin(low, high, 2n)
    ? { agreed: true, low, high, observedAtMicros, maxAgeSeconds }
    : { agreed: false, observedAtMicros, maxAgeSeconds }
}

const expiry = ({ observedAtMicros, maxAgeSeconds }: PricedFrom): bigint =>
  observedAtMicros + BigInt(maxAgeSeconds) * 1_000_000n

/** Whether the larger of two prices is at most some percent above the smaller. */
function isWithin(one: bigint, other: bigint, percent: bigint): boolean {
  return largest(one, other) * 100n <= smallest(one, other) * (100n + percent)
}
