import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { systemTime } from '../../platform/time.ts'
import { NoPrimary, StoreDamaged, StoreUnavailable } from '../../store/unavailable.ts'

export type RetriedStart = {
  readonly log: Logger
  /** Settles when the process must end, after which nothing is tried again. */
  readonly ended: Promise<unknown>
}

/**
 * Starts again while the store is unavailable: a database that is busy, or fails over, at a start
 * need not end the process. A database without a primary, or a damaged one, is reported at once.
 */
export async function startRetried<T>(
  start: () => Promise<T>,
  { log, ended }: RetriedStart,
): Promise<T> {
  const until = systemTime.elapsedMs() + limits.startRetriedMs
  const isEnded = ended.then(() => true)
  for (;;) {
    try {
      return await start()
    } catch (error) {
      if (!mayPass(error) || systemTime.elapsedMs() > until) throw error
      const pause = systemTime.pause(limits.startPauseMs).then(() => false)
      if (await Promise.race([isEnded, pause])) throw error
      log.warn({ reason: error.message }, 'the store is unavailable, so the server starts again')
    }
  }
}

const mayPass = (error: unknown): error is StoreUnavailable =>
  error instanceof StoreUnavailable &&
  !(error instanceof NoPrimary) &&
  !(error instanceof StoreDamaged)
