import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { Problem } from '../../contract/problem.ts'
import type { Trace } from '../../contract/request.ts'

/** Counts one request of a client and notes the `RateLimit-*` headers for its answer, whatever that is; or throws a 429. */
export type RequestLimit = (clientId: string, trace: Trace) => Promise<void>

/**
 * At most this many requests of one client in a second, on this process. Keys are client ids from verified tokens, so
 * nobody can fill the memory with names of his own.
 */
export function openRequestLimit(requestsPerSecond: number): RequestLimit {
  const limiter = new RateLimiterMemory({ points: requestsPerSecond, duration: 1 })
  const headersOf = (state: RateLimiterRes) => ({
    'ratelimit-limit': String(requestsPerSecond),
    'ratelimit-remaining': String(state.remainingPoints),
    'ratelimit-reset': String(Math.ceil(state.msBeforeNext / 1000)),
  })
  return async (clientId, trace) => {
    try {
      trace.limitHeaders = headersOf(await limiter.consume(clientId))
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      const headers = headersOf(refused)
      trace.limitHeaders = headers
      throw new Problem(429, 'too many requests; wait for the seconds that Retry-After names', {
        headers: { 'retry-after': headers['ratelimit-reset'] },
      })
    }
  }
}
