import { largest, smallest } from '@bursar/base'
import { ageOf, type LivePrice } from '../../fee-basis.ts'

/** A price in 1e-18 US dollars, and the time that its source gives it. */
export type ObservedPrice = { readonly usd: bigint; readonly observedAtMicros: bigint }

/** The price in use, and one that waits for confirmation. */
export type PriceState = {
  readonly accepted?: ObservedPrice
  readonly pending?: ObservedPrice
}

type SourcePrice = ObservedPrice & { readonly maxAgeSeconds: number }

/** A first price, or one that moved by over a fifth, stays pending until the next agrees. */
export function confirmPrice(state: PriceState, observed: ObservedPrice): PriceState {
  const known = [state.accepted, state.pending].filter((price) => price !== undefined)
  const isConfirmed = known.some(({ usd }) => isWithin(usd, observed.usd, 20n))
  if (isConfirmed) return { accepted: observed }
  return { ...state, pending: observed }
}

/**
 * Combines the fresh prices of one symbol into the lowest and the highest. Sources more than 2 %
 * apart do not agree, and nothing is quoted until they do. Returns undefined if no price is fresh.
 */
export function combinePrices(sources: readonly SourcePrice[], now: bigint): LivePrice | undefined {
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

const expiry = ({ observedAtMicros, maxAgeSeconds }: SourcePrice): bigint =>
  observedAtMicros + BigInt(maxAgeSeconds) * 1_000_000n

/** Whether the larger of two prices is at most some percent above the smaller. */
function isWithin(one: bigint, other: bigint, percent: bigint): boolean {
  return largest(one, other) * 100n <= smallest(one, other) * (100n + percent)
}
