import { type Config, type Logger, limitsOf, readPostgresUrl, systemTime } from '@bursar/base'
import { NoPrimary, StoreDamaged, StoreServed, StoreUnavailable } from '@bursar/records'

const limits = limitsOf({
  /** How long `serve` tries to start on a database that answers late. */
  startRetriedMs: 30_000,
  startPauseMs: 500,
})

export type RetriedStart = {
  readonly config: Pick<Config, 'databaseUrl' | 'lameDuckMs'>
  readonly log: Logger
  /** Settles when the process must end, after which nothing is tried again. */
  readonly ended: Promise<unknown>
}

/**
 * Starts again while the store is unavailable: a database that is busy, or fails over, at a start
 * need not end the process. A database without a primary, or a damaged one, is reported at once. On
 * the embedded store a restart waits for the server before it, also for its lame-duck period.
 */
export async function startRetried<T>(
  start: () => Promise<T>,
  { config, log, ended }: RetriedStart,
): Promise<T> {
  const isEmbedded = readPostgresUrl(config.databaseUrl) === undefined
  const retriedMs = limits.startRetriedMs + (isEmbedded ? config.lameDuckMs : 0)
  const until = systemTime.elapsedMs() + retriedMs
  const isEnded = ended.then(() => true)
  let reported: string | undefined
  for (;;) {
    try {
      return await start()
    } catch (error) {
      const isRetried = isEmbedded ? error instanceof StoreServed : mayPass(error)
      if (!isRetried || systemTime.elapsedMs() > until) throw error
      const reason = (error as Error).message
      if (reason !== reported) {
        log.warn({ reason, retriedMs }, 'the store is unavailable, so the server starts again')
      }
      reported = reason
      const pause = systemTime.pause(limits.startPauseMs).then(() => false)
      if (await Promise.race([isEnded, pause])) throw error
    }
  }
}

const mayPass = (error: unknown): boolean =>
  error instanceof StoreUnavailable &&
  !(error instanceof NoPrimary) &&
  !(error instanceof StoreDamaged)
