import type { Metrics } from '../../platform/metrics/metrics.ts'
import { noOperation, type Served } from './request-log.ts'

/** Measures every request that was served, and counts the tokens that were refused. */
export const measureRequests =
  (metrics: Metrics) =>
  ({ trace, status, durationMs }: Served): void => {
    const labels = { operation: trace.operation ?? noOperation, status: String(status) }
    metrics.observe('http_server_request_duration_seconds', labels, durationMs / 1000)
    if (trace.refusal !== undefined) {
      metrics.count('bursar_tokens_refused_total', { reason: trace.refusal })
    }
  }
