import cluster from 'node:cluster'
import { limitsOf, systemTime, turn } from '@bursar/base'
import { contractLimits } from '@bursar/contract'
import type { NodeServers } from './node-server.ts'

const limits = limitsOf({
  /** A listener closes once nobody has connected for this long. */
  listenerSettleMs: 250,
  /** A busy connection has its next request within this time, and its answer closes it. */
  idleGraceMs: 2000,
})

export type Draining = {
  /** Whether answers carry `Connection: close`. */
  answersClose: boolean
  /** From here on the requests in flight have their deadline. */
  listenerClosedAt: number | undefined
}

/**
 * Takes leave of the clients, so that none loses a request. In the lame-duck period every request
 * is served, and answers ask clients to connect elsewhere. Then the listener closes, and
 * connections end with their next answer. What is left after a grace period is idle.
 *
 * A client that closes its connection opens another. The system would reset one that arrives while
 * a listener closes, so clients keep their connections at that moment. With workers, which share
 * the listener, it lasts until the last of them has closed it.
 *
 * Refusing requests with 503 instead would lose those of clients that do not repeat them.
 */
export async function drain(
  servers: NodeServers,
  draining: Draining,
  lameDuckMs: number,
): Promise<void> {
  const askedMs = lameDuckMs - limits.listenerSettleMs
  if (askedMs > 0) {
    draining.answersClose = true
    await systemTime.pause(askedMs)
    draining.answersClose = false
  }
  await untilQuiet(servers)
  const allEnded = servers.closeListeners()
  draining.listenerClosedAt = systemTime.elapsedMs()
  if (cluster.isWorker) {
    await Promise.race([
      allEnded,
      othersClosed(),
      systemTime.pause(contractLimits.listenerSettleMsMax),
    ])
  }
  draining.answersClose = true
  await Promise.race([allEnded, systemTime.pause(limits.idleGraceMs)])
  // A request that has arrived counts as one.
  await turn()
  servers.closeIdle()
}

/** Tells the first process that this worker has closed the listener. It answers after the last. */
function othersClosed(): Promise<void> {
  return new Promise((resolve) => {
    // The worker has other messages too, of its metrics.
    process.on('message', ({ listeners }: { readonly listeners?: 'closed' }) => {
      if (listeners === 'closed') resolve()
    })
    if (process.connected) process.send?.({ listener: 'closed' })
  })
}

/** Waits until nobody has connected for a moment. Clients that never keep a connection go on. */
async function untilQuiet({ newest, size }: NodeServers): Promise<void> {
  const startedAt = systemTime.elapsedMs()
  if (size() === 0 && startedAt - newest() > contractLimits.listenerSettleMsMax) return
  for (;;) {
    // Right after the event loop has read from every socket, what it has not seen is not there.
    // On a busy machine the loop may be late, so time alone would say nothing.
    await turn()
    const quietAt = Math.max(newest(), startedAt) + limits.listenerSettleMs
    const at = Math.min(quietAt, startedAt + contractLimits.listenerSettleMsMax)
    if (systemTime.elapsedMs() >= at) return
    await systemTime.pause(at - systemTime.elapsedMs())
  }
}
