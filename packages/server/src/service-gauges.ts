import { monitorEventLoopDelay } from 'node:perf_hooks'
import {
  type Background,
  type Clock,
  type Config,
  cryptoNetworks,
  type Logger,
  limitsOf,
  type Metrics,
  type Reading,
} from '@bursar/base'
import { ageOf, type Dated, type FeeBasis } from '@bursar/fees'
import type { OAuth } from '@bursar/oauth'
import type {
  AuditLog,
  ChangeWatch,
  CountedImports,
  FeeQuoteStore,
  Imports,
  Store,
} from '@bursar/records'

const limits = limitsOf({
  /** How often the delay of the event loop is measured: it finds each one that is as long. */
  eventLoopSampledMs: 20,
})

export type GaugeDeps = {
  readonly metrics: Metrics
  readonly store: {
    readonly damage: Pick<Store['damage'], 'counts'>
    readonly customers: { readonly changes: Pick<ChangeWatch, 'waiting'> }
  }
  /** What only a process that serves the operator may count. */
  readonly stored:
    | {
        readonly quotes: Pick<FeeQuoteStore['operator'], 'countOpen'>
        readonly imports: Pick<Imports, 'count'>
      }
    | undefined
  readonly audit: Pick<AuditLog, 'depth'>
  readonly oauth: Pick<OAuth, 'freshness'>
  readonly feeBasis: () => FeeBasis
  readonly config: Pick<Config, 'credentialsAgeSecondsMax'>
  readonly clock: Clock
  readonly log: Logger
  readonly background: Background
}

/**
 * Has every gauge of a service read. What takes a statement is counted by a job, so that nobody who
 * reads the metrics waits for the database. Returns the function that ends this.
 */
export function startServiceGauges(deps: GaugeDeps): () => void {
  const { metrics, store, audit, background, log } = deps
  const loop = watchEventLoop(metrics)
  const stops = [
    metrics.gauge('bursar_waiting_event_requests', () => [[{}, store.customers.changes.waiting()]]),
    metrics.gauge('bursar_audit_queue_entries', () => [[{}, audit.depth()]]),
    metrics.gauge('bursar_damaged_records', () => damagedRecords(store)),
    ...watchSources(deps),
  ]
  const counting = countStored(deps)
  let isFailing = false
  const measure = async () => {
    loop.turn()
    try {
      await counting.count()
      isFailing = false
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'open fee quotes and imports cannot be counted')
      isFailing = true
    }
    return { isFailed: isFailing }
  }
  const { stop } = background.start('measure-service', measure, { firstMs: 0 })
  return () => {
    for (const each of [stop, loop.stop, counting.stop, ...stops]) each()
  }
}

/**
 * The delay of the event loop since the turn before the last one. A monitor sees nothing before its
 * second sample, so each one has run for a while when it is read.
 */
function watchEventLoop(metrics: Metrics) {
  let [read, next] = [openLoopMonitor(), openLoopMonitor()]
  const stops = [
    metrics.gauge('nodejs_eventloop_delay_p99_seconds', () => [[{}, read.p99()]]),
    metrics.gauge('nodejs_eventloop_delay_max_seconds', () => [[{}, read.max()]]),
  ]
  return {
    turn: () => {
      read.stop()
      read = next
      next = openLoopMonitor()
    },
    stop: () => {
      for (const stop of [...stops, read.stop, next.stop]) stop()
    },
  }
}

function openLoopMonitor() {
  const resolution = limits.eventLoopSampledMs
  const histogram = monitorEventLoopDelay({ resolution })
  histogram.enable()
  // A sample is the time from one timer to the next, so a loop that is never late has this one.
  const late = (nanoseconds: number) =>
    histogram.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolution / 1000)
  return {
    p99: () => late(histogram.percentile(99)),
    max: () => late(histogram.max),
    stop: () => void histogram.disable(),
  }
}

function countStored({ metrics, stored }: Pick<GaugeDeps, 'metrics' | 'stored'>) {
  if (stored === undefined) return { count: async () => {}, stop: () => {} }
  const { quotes, imports } = stored
  let open: number | undefined
  let counted: readonly CountedImports[] = []
  const stops = [
    metrics.gauge('bursar_open_quotes', () => (open === undefined ? [] : [[{}, open]])),
    metrics.gauge('bursar_imports', () =>
      counted.map(({ state, imports: count }) => [{ state }, count]),
    ),
  ]
  return {
    count: async () => {
      open = await quotes.countOpen()
      counted = await imports.count()
    },
    stop: () => {
      for (const stop of stops) stop()
    },
  }
}

const damagedRecords = ({ damage }: Pick<GaugeDeps['store'], 'damage'>) =>
  [...damage.counts()].map(([kind, count]): Reading<'bursar_damaged_records'> => [{ kind }, count])

type SourceName = Reading<'bursar_source_age_seconds'>[0]['source']
type SourceAge = {
  readonly source: SourceName
  readonly ageSeconds: number
  readonly limitSeconds: number
}

function watchSources(deps: GaugeDeps): readonly (() => void)[] {
  const { metrics, oauth, feeBasis, clock } = deps
  const openedAt = clock()
  const ages = (): readonly SourceAge[] => {
    const credentials = {
      source: 'credentials',
      ageSeconds: oauth.freshness().ageMs / 1000,
      limitSeconds: deps.config.credentialsAgeSecondsMax,
    } as const
    return [credentials, ...feeSources(feeBasis(), openedAt, clock())]
  }
  return [
    metrics.gauge('bursar_source_age_seconds', () =>
      ages().map(({ source, ageSeconds }) => [{ source }, ageSeconds]),
    ),
    metrics.gauge('bursar_source_age_limit_seconds', () =>
      ages().map(({ source, limitSeconds }) => [{ source }, limitSeconds]),
    ),
  ]
}

/**
 * Only what the operator has configured: nodes, price sources, and tables that carry a date. A
 * source that has never answered is as old as the service.
 */
function feeSources(basis: FeeBasis, openedAt: bigint, now: bigint): readonly SourceAge[] {
  const { schedule, costs, prices } = basis
  const networks = cryptoNetworks.flatMap((network): SourceAge[] => {
    const { endpoints, maxAgeSeconds } = schedule.networks[network]
    if (endpoints.length === 0) return []
    const observedAt = costs.get(network)?.observedAtMicros ?? openedAt
    const age = ageOf(observedAt, now)
    return [{ source: network, ageSeconds: age, limitSeconds: maxAgeSeconds }]
  })
  const oldest = [...prices.values()].reduce<bigint | undefined>(
    (least, { observedAtMicros: at }) => (least === undefined || at < least ? at : least),
    undefined,
  )
  const sources = schedule.priceSources.map((source) => source.maxAgeSeconds)
  const live: SourceAge[] =
    sources.length === 0
      ? []
      : [
          {
            source: 'prices',
            ageSeconds: ageOf(oldest ?? openedAt, now),
            limitSeconds: Math.min(...sources),
          },
        ]
  const table = (source: SourceName, dated: Dated): SourceAge[] => {
    if (dated.origin !== 'operator') return []
    const age = ageOf(dated.asOfMicros, now)
    return [{ source, ageSeconds: age, limitSeconds: dated.maxAgeSeconds }]
  }
  return [
    ...networks,
    ...live,
    ...table('cost_table', schedule.costs),
    ...table('price_table', schedule.prices),
  ]
}
