import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { Problem } from '../../contract/problem.ts'
import type { Trace } from '../../contract/request.ts'

/** Counts a request and notes the `RateLimit-*` headers. Throws a 429 over the limit. */
export type RateLimit = (clientId: string, trace: Trace) => Promise<void>

/**
 * Limits each client's requests in one second, on this process; 0 is no limit. The keys are client
 * ids of verified tokens, so a stranger cannot fill the memory.
 */
export function openRateLimit(requestsPerSecondMax: number): RateLimit {
  if (requestsPerSecondMax === 0) return async () => {}
  const limiter = new RateLimiterMemory({ points: requestsPerSecondMax, duration: 1 })
  const headersOf = (state: RateLimiterRes) => ({
    'ratelimit-limit': String(requestsPerSecondMax),
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
