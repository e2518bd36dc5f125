import cluster, { type Worker } from 'node:cluster'
import { limitsOf, systemTime } from '@bursar/base'
import type { MetricsRegistry } from '@bursar/base/open-metrics'
import { problem } from '@bursar/contract'
import { ClusterRegistry, type PrometheusContentType } from '@prometheus-io/client'

const limits = limitsOf({
  /** How long a worker waits for the metrics of all: Prometheus waits for 10 s. */
  metricsMergedMs: 6000,
})

/** What a worker asks the first process for, and its answer. Without `text` it has failed. */
type Wanted = { readonly wantedMetrics: number }
type Merged = { readonly mergedMetrics: number; readonly text?: string }

/**
 * In the first process: merges the metrics of all workers for the worker that was asked for them.
 * Only this process can, because the library's registry sends messages to workers.
 */
export function serveMergedMetrics(): void {
  const registry = new ClusterRegistry<PrometheusContentType>()
  cluster.on('message', (worker, message: Partial<Wanted>) => {
    const { wantedMetrics: id } = message
    if (id === undefined) return
    registry.clusterMetrics().then(
      (text) => tell(worker, { mergedMetrics: id, text }),
      () => tell(worker, { mergedMetrics: id }),
    )
  })
}

const tell = (worker: Worker, message: Merged): void => {
  // A worker that is gone needs no answer.
  if (worker.isConnected()) worker.send(message, () => {})
}

/** In a worker: gives its metrics to the first process, and reads those of all workers there. */
export function mergeWithOthers(own: MetricsRegistry): () => Promise<string> {
  ClusterRegistry.setRegistries(own)
  // It answers the first process from here on.
  new ClusterRegistry<PrometheusContentType>()
  const waiting = new Map<number, (text: string | undefined) => void>()
  let last = 0
  process.on('message', ({ mergedMetrics: id, text }: Partial<Merged>) => {
    if (id !== undefined) waiting.get(id)?.(text)
  })
  return () =>
    new Promise((resolve, reject) => {
      last += 1
      const id = last
      const end = (text: string | undefined) => {
        cancel()
        waiting.delete(id)
        if (text !== undefined) return resolve(text)
        const detail = 'a worker does not answer, so the metrics cannot be merged'
        reject(problem('unavailable', detail, { retryAfter: 1 }))
      }
      const cancel = systemTime.after(limits.metricsMergedMs, () => end(undefined))
      waiting.set(id, end)
      if (process.connected) process.send?.({ wantedMetrics: id } satisfies Wanted)
      else end(undefined)
    })
}
