import cluster from 'node:cluster'
import type { Logger } from '../platform/log.ts'
import { untilSignalled } from './signals.ts'

type WorkerSide = {
  readonly log: Logger
  readonly announce: (url: string) => void
  /** Resolves when the worker shall answer what it has in flight and end. */
  readonly ended: Promise<void>
}

/** The side of `workers.ts` that answers requests. */
export async function asWorker(
  log: Logger,
  serve: (side: WorkerSide) => Promise<void>,
): Promise<void> {
  const { pid } = process
  const ofWorker = log.child({ pid })
  // Ctrl-C and service managers signal the whole group, and the primary signals each worker as well: that is one
  // request to end, not two. A worker that takes too long is ended by the primary.
  const signalled = untilSignalled(ofWorker, () => {})
  const primaryGone = new Promise<void>((resolve) => {
    process.once('disconnect', resolve)
  })
  try {
    await serve({
      log: ofWorker,
      announce: (url) => {
        endOnlyWhenDone()
        cluster.worker?.send({ url })
      },
      ended: Promise.race([signalled, primaryGone]),
    })
  } finally {
    endOnlyWhenDone()
    // The channel would keep the process from ending.
    if (process.connected) process.disconnect?.()
  }
}

/** Node ends a worker at once when the channel to its primary closes, unless it is told that this is expected. */
function endOnlyWhenDone(): void {
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
}
