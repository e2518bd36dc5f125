import { baseLimits, type Ran, systemTime } from '@bursar/base'
import type { LivePrice } from '../../fee-basis.ts'
import type { FeeSchedule, PriceSource } from '../../schedule/read-schedule.ts'
import type { FeeSourceDeps } from '../fee-event.ts'
import { endpointPool, reasonOf } from '../nodes/endpoint-pool.ts'
import { type NodeClient, nodeClient } from '../nodes/node-client.ts'
import { combinePrices, confirmPrice, type PriceState } from './price-agreement.ts'
import { type ObservedPrices, observeChainlink, observeHttpPrices } from './price-sources.ts'

const confirmationDelayMs = 1_000
const answerTimeoutMs = 2_000

type ObservedSource = {
  readonly name: string
  readonly maxAgeSeconds: number
  /** Undefined if no endpoint answered; the pool has reported why. */
  readonly observe: (stop: AbortSignal) => Promise<ObservedPrices | undefined>
  readonly states: Map<string, PriceState>
  hasFailed: boolean
}

/**
 * Returns a run of the job that observes every price source. It never rejects. `accept` receives
 * the prices that the sources agree on.
 */
export function priceObserver(
  schedule: FeeSchedule,
  deps: FeeSourceDeps,
  accept: (prices: ReadonlyMap<string, LivePrice>) => void,
): (stop: AbortSignal) => Promise<Ran> {
  const sources = schedule.priceSources.map((source) => openSource(source, schedule, deps))
  return async (stop) => {
    const results = await Promise.all(sources.map((source) => refresh(source, deps, stop)))
    if (stop.aborted) return {}
    accept(combineAll(sources, deps.clock()))
    const pauseMs = results.includes('pending')
      ? confirmationDelayMs
      : baseLimits.feeRefreshMs * (0.9 + deps.random() / 5)
    return { pauseMs, isFailed: results.includes('failed') }
  }
}

/** Observes one source. `pending`: one of its prices waits for confirmation. */
async function refresh(
  source: ObservedSource,
  { report }: FeeSourceDeps,
  stop: AbortSignal,
): Promise<'settled' | 'pending' | 'failed'> {
  const { name, states } = source
  let observed: ObservedPrices | undefined
  try {
    observed = await source.observe(stop)
  } catch (error) {
    if (!source.hasFailed && !stop.aborted) {
      report({ event: 'price-source-failed', source: name, reason: reasonOf(error) })
    }
    source.hasFailed = true
    return 'failed'
  }
  if (observed === undefined) return 'failed'
  if (source.hasFailed) report({ event: 'price-source-recovered', source: name })
  source.hasFailed = false
  let hasPending = false
  for (const [symbol, price] of observed) {
    const before = states.get(symbol) ?? {}
    const after = confirmPrice(before, price)
    states.set(symbol, after)
    if (after.pending === undefined) continue
    hasPending = true
    // The first price always waits, so it is not reported.
    if (before.accepted !== undefined) report({ event: 'price-held', source: name, symbol })
  }
  return hasPending ? 'pending' : 'settled'
}

function combineAll(sources: readonly ObservedSource[], now: bigint) {
  const accepted = sources.flatMap(({ states, maxAgeSeconds }) =>
    [...states].flatMap(([symbol, { accepted: price }]) =>
      price === undefined ? [] : [{ symbol, ...price, maxAgeSeconds }],
    ),
  )
  const prices = new Map<string, LivePrice>()
  for (const [symbol, sourcePrices] of Map.groupBy(accepted, (price) => price.symbol)) {
    const combined = combinePrices(sourcePrices, now)
    if (combined !== undefined) prices.set(symbol, combined)
  }
  return prices
}

function openSource(
  source: PriceSource,
  schedule: FeeSchedule,
  deps: FeeSourceDeps,
): ObservedSource {
  const { maxAgeSeconds } = source
  const base = { maxAgeSeconds, states: new Map<string, PriceState>(), hasFailed: false }
  if (source.kind === 'http') {
    const node = nodeClient(source.endpoint)
    return {
      ...base,
      name: node.host,
      observe: async (stop) => {
        using deadline = systemTime.deadline(answerTimeoutMs, stop)
        return await observeHttpPrices(node, source, deps.clock(), deadline.signal)
      },
    }
  }
  const plan = schedule.networks[source.network]
  const pool = endpointPool(source.network, plan.endpoints, deps)
  const chainId = 'chainId' in plan.guard ? plan.guard.chainId : 0n
  return {
    ...base,
    name: `chainlink on ${source.network}`,
    observe: async (stop) => {
      const observe = (node: NodeClient, signal: AbortSignal) =>
        observeChainlink(node, source, chainId, deps.clock(), signal)
      return (await pool.ask(observe, stop))?.value
    },
  }
}
