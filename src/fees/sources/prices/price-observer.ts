import type { LivePrice } from '../../fee-basis.ts'
import type { FeeSchedule } from '../../schedule/fee-schedule.ts'
import type { PriceSource } from '../../schedule/price-source.ts'
import type { LookingGlass } from '../fee-event.ts'
import { type EndpointPool, endpointPool, reasonOf } from '../nodes/endpoint-pool.ts'
import { nodeClient } from '../nodes/node-client.ts'
import { combinePrices, type PricedFrom, type PriceStanding, takePrice } from './price-agreement.ts'
import { type ObservedPrices, observeChainlink, observeHttpPrices } from './price-sources.ts'

const refreshMs = 30_000
const secondLookMs = 1_000
const answerTimeoutMs = 2_000

type Watched = {
  readonly name: string
  readonly maxAgeSeconds: number
  /** Undefined where no endpoint answered; the pool has reported why. */
  readonly observe: (stop: AbortSignal) => Promise<ObservedPrices | undefined>
  readonly standings: Map<string, PriceStanding>
  hasFailed: boolean
}

/** Looks at every price source. `look` never rejects; it gives how long to wait before the next. */
export type PriceWatch = { readonly look: (stop: AbortSignal) => Promise<number> }

export function priceWatch(
  schedule: FeeSchedule,
  glass: LookingGlass,
  accept: (prices: ReadonlyMap<string, LivePrice>) => void,
): PriceWatch {
  const watched = schedule.priceSources.map((source) => watchSource(source, schedule, glass))
  return {
    look: async (stop) => {
      const held = await Promise.all(watched.map((source) => lookAt(source, glass, stop)))
      if (stop.aborted) return 0
      accept(combineAll(watched, glass.clock()))
      return held.includes(true) ? secondLookMs : refreshMs * (0.9 + glass.random() / 5)
    },
  }
}

/** Whether a price of this source waits for a second look. */
async function lookAt(source: Watched, glass: LookingGlass, stop: AbortSignal): Promise<boolean> {
  const { name, standings } = source
  let observed: ObservedPrices | undefined
  try {
    observed = await source.observe(stop)
  } catch (error) {
    if (!source.hasFailed && !stop.aborted) {
      glass.report({ event: 'price-source-failed', source: name, reason: reasonOf(error) })
    }
    source.hasFailed = true
    return false
  }
  if (observed === undefined) return false
  if (source.hasFailed) glass.report({ event: 'price-source-recovered', source: name })
  source.hasFailed = false
  let isHeld = false
  for (const [symbol, price] of observed) {
    const before = standings.get(symbol) ?? {}
    const after = takePrice(before, price)
    standings.set(symbol, after)
    if (after.pending === undefined) continue
    isHeld = true
    // The first price of all waits too, which is no news.
    if (before.accepted !== undefined) glass.report({ event: 'price-held', source: name, symbol })
  }
  return isHeld
}

function combineAll(watched: readonly Watched[], now: bigint): ReadonlyMap<string, LivePrice> {
  const bySymbol = new Map<string, PricedFrom[]>()
  for (const { standings, maxAgeSeconds } of watched) {
    for (const [symbol, { accepted }] of standings) {
      if (accepted === undefined) continue
      const priced = { ...accepted, maxAgeSeconds }
      bySymbol.set(symbol, [...(bySymbol.get(symbol) ?? []), priced])
    }
  }
  const prices = new Map<string, LivePrice>()
  for (const [symbol, sources] of bySymbol) {
    const combined = combinePrices(sources, now)
    if (combined !== undefined) prices.set(symbol, combined)
  }
  return prices
}

function watchSource(source: PriceSource, schedule: FeeSchedule, glass: LookingGlass): Watched {
  const { maxAgeSeconds } = source
  const base = { maxAgeSeconds, standings: new Map<string, PriceStanding>(), hasFailed: false }
  if (source.kind === 'http') {
    const node = nodeClient(source.endpoint)
    return {
      ...base,
      name: node.host,
      observe: (stop) => {
        const signal = AbortSignal.any([stop, AbortSignal.timeout(answerTimeoutMs)])
        return observeHttpPrices(node, source, glass.clock(), signal)
      },
    }
  }
  const plan = schedule.networks[source.network]
  const pool: EndpointPool = endpointPool(source.network, plan.endpoints, glass)
  const chainId = 'chainId' in plan.guard ? plan.guard.chainId : 0n
  return {
    ...base,
    name: `chainlink on ${source.network}`,
    observe: async (stop) => {
      const answer = await pool.ask(
        (node, signal) => observeChainlink(node, source, chainId, glass.clock(), signal),
        stop,
      )
      return answer?.value
    },
  }
}
