import { type BursarError, ConnectionError } from './errors.ts'
import { TIMER_MS_MAX } from './system-time.ts'

/** How often and how late a request is repeated. */
export type RetryOptions = {
  readonly maxAttempts: number
  readonly retryDelayMs: number
}

/** A longer `Retry-After` is thrown instead, so that no call hangs for minutes. */
const RETRY_AFTER_SECONDS_MAX = 60

type Statuses = readonly (number | undefined)[]
const repeatedStatuses: Statuses = [408, 429, 500, 502, 503, 504]
/** The server has read no whole request, or refused to begin. */
const refusedStatuses: Statuses = [408, 429]

/** A read may be repeated after any failure that another attempt may cure. */
export const mayRepeatRead = (error: BursarError): boolean =>
  error instanceof ConnectionError || repeatedStatuses.includes(error.status)

/** A write is repeated only if the server surely did not take it. */
export const mayRepeatWrite = (error: BursarError): boolean =>
  error instanceof ConnectionError ? !error.wasSent : refusedStatuses.includes(error.status)

/**
 * The milliseconds before the next attempt, or undefined if there is none. Jitter of up to one
 * delay keeps clients that failed together from returning together.
 */
export function waitAfter(
  error: BursarError,
  failures: number,
  { maxAttempts, retryDelayMs }: RetryOptions,
): number | undefined {
  const { retryAfterSeconds } = error
  if (failures >= maxAttempts) return undefined
  if (retryAfterSeconds !== undefined && retryAfterSeconds > RETRY_AFTER_SECONDS_MAX) {
    return undefined
  }
  const leastMs =
    retryAfterSeconds === undefined ? retryDelayMs * 2 ** (failures - 1) : retryAfterSeconds * 1000
  return Math.min(leastMs + Math.random() * retryDelayMs, TIMER_MS_MAX)
}
