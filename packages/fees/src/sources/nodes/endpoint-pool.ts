import { type CryptoNetwork, systemTime } from '@bursar/base'
import type { Endpoint } from '../../schedule/schedule-members.ts'
import type { FeeSourceDeps } from '../fee-event.ts'
import { type NodeClient, nodeClient } from './node-client.ts'

/** After that, the pool sends the request to the next node. */
const answerTimeoutMs = 2_000
/** After n failures in a row an endpoint is skipped for 2^n seconds, at most five minutes. */
const backOffSecondsMax = 300

type PoolEntry = { readonly node: NodeClient; failures: number; notBeforeMs: number }

type Answer<T> = { readonly value: T; readonly host: string }

/** The endpoints of one network, in the operator's order. */
export type EndpointPool = {
  /**
   * Returns the answer of the first endpoint that succeeds; undefined if all fail. Never rejects.
   * The host `last` comes after all others, because another node confirms a figure better than the
   * same node.
   */
  readonly ask: <T>(
    observe: (node: NodeClient, signal: AbortSignal) => Promise<T>,
    stop: AbortSignal,
    last?: string,
  ) => Promise<Answer<T> | undefined>
}

export function endpointPool(
  network: CryptoNetwork,
  endpoints: readonly Endpoint[],
  deps: FeeSourceDeps,
): EndpointPool {
  const entries: readonly PoolEntry[] = endpoints.map((endpoint) => {
    return { node: nodeClient(endpoint), failures: 0, notBeforeMs: 0 }
  })
  const ask: EndpointPool['ask'] = async (observe, stop, last) => {
    const inOrder = [
      ...entries.filter(({ node }) => node.host !== last),
      ...entries.filter(({ node }) => node.host === last),
    ]
    for (const entry of inOrder) {
      if (stop.aborted) return undefined
      if (systemTime.elapsedMs() < entry.notBeforeMs) continue
      const { host } = entry.node
      try {
        using deadline = systemTime.deadline(answerTimeoutMs, stop)
        const value = await observe(entry.node, deadline.signal)
        if (entry.failures > 0) deps.report({ event: 'node-recovered', network, host })
        entry.failures = 0
        return { value, host }
      } catch (error) {
        if (stop.aborted) return undefined
        if (entry.failures === 0) {
          deps.report({ event: 'node-failed', network, host, reason: reasonOf(error) })
        }
        backOff(entry, deps)
      }
    }
    return undefined
  }
  return { ask }
}

/** The program's own messages are safe to log. Others may quote what the node sent. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && error.name === 'Error' ? error.message : 'sent an invalid answer'
}

function backOff(entry: PoolEntry, { random }: FeeSourceDeps): void {
  entry.failures += 1
  const seconds = Math.min(backOffSecondsMax, 2 ** Math.min(entry.failures, 10))
  entry.notBeforeMs = systemTime.elapsedMs() + seconds * (0.5 + random() / 2) * 1000
}
