import { type Config, type Metrics, noMetrics } from '@bursar/base'
import type { MetricsRegistry } from '@bursar/base/open-metrics'
import { type Route, resources, statusGuides } from '@bursar/contract'
import { refusals } from '@bursar/oauth'
import { noOperation, type Served } from './server/request-log.ts'

/** Reads the metrics of every worker, given those of this one. */
export type MergeMetrics = (own: MetricsRegistry) => () => Promise<string>

type Learn = ((served: Served) => void) | undefined

export type ServiceMetrics = {
  readonly metrics: Metrics
  /** What `/metrics` answers. Undefined where nobody can read it. */
  readonly read: (() => Promise<string>) | undefined
  /** Adds the measuring of requests to another learner of them. */
  observing(served: Learn): Learn
}

type MetricsDeps = {
  /** Known once the service is composed: the metrics are needed before that. */
  readonly routes: () => readonly Route[]
  readonly merge: MergeMetrics | undefined
}

/** Nobody can read metrics without the operator’s port, so then none are kept. */
export async function openServiceMetrics(
  { operatorPort }: Pick<Config, 'operatorPort'>,
  { routes, merge = readAlone }: MetricsDeps,
): Promise<ServiceMetrics> {
  if (operatorPort === undefined) {
    return { metrics: noMetrics, read: undefined, observing: (served) => served }
  }
  const { openMetrics } = await import('@bursar/base/open-metrics')
  const metrics = openMetrics({
    operations: () => [...routes().map(({ operation }) => operation), noOperation],
    statuses: () => [...successes, ...statusGuides.map(({ status }) => status)].map(String),
    refusals: () => refusals,
    kinds: () => resources.map(({ kind }) => kind),
  })
  const measure = measureRequests(metrics)
  return {
    metrics,
    read: merge(metrics.registry),
    observing: (served) => (request) => {
      measure(request)
      served?.(request)
    },
  }
}

/** Measures every request that was served, and counts the tokens that were refused. */
const measureRequests =
  (metrics: Metrics) =>
  ({ trace, status, durationMs }: Served): void => {
    const labels = { operation: trace.operation ?? noOperation, status: String(status) }
    metrics.observe('http_server_request_duration_seconds', labels, durationMs / 1000)
    if (trace.refusal !== undefined) {
      metrics.count('bursar_tokens_refused_total', { reason: trace.refusal })
    }
  }

/** The statuses that no problem has. */
const successes = [200, 201, 202, 204, 302, 304]

const readAlone: MergeMetrics = (registry) => () => registry.metrics()
