import cluster from 'node:cluster'
import type { Logger } from '@bursar/base'
import { type EndSignal, untilSignalled } from './signals.ts'

/** What the service needs from the process that it runs in. */
export type WorkerSide = {
  readonly log: Logger
  readonly announce: (url: string) => void
  /** Resolves when the process must drain and exit. */
  readonly ended: Promise<EndSignal>
}

/** Runs the service in a worker process of `workers.ts`. */
export async function runAsWorker(
  log: Logger,
  serve: (side: WorkerSide) => Promise<void>,
): Promise<void> {
  const workerLog = log.child({ pid: process.pid })
  // Ctrl-C signals the whole process group, and the primary signals each worker too. So a second
  // signal does nothing here. The primary kills a worker that takes too long.
  const signalled = untilSignalled(workerLog, { onSecond: () => {} })
  const { promise: primaryGone, resolve } = Promise.withResolvers<EndSignal>()
  // A new primary may start at once, so the listener closes without a lame-duck period.
  process.once('disconnect', () => resolve('SIGINT'))
  try {
    await serve({
      log: workerLog,
      announce: (url) => {
        keepRunningOnDisconnect()
        cluster.worker?.send({ url })
      },
      ended: Promise.race([signalled, primaryGone]),
    })
  } finally {
    keepRunningOnDisconnect()
    // An open channel keeps the process alive.
    if (process.connected) process.disconnect?.()
  }
}

/** By default Node exits a worker when its channel closes. With this flag the worker can drain. */
function keepRunningOnDisconnect(): void {
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
}
