import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { problem } from '../../contract/problem.ts'
import type { RateLimit } from '../../contract/request.ts'

/**
 * Limits the requests of each key in one second, on this process; 0 is no limit. A key is a client
 * id or an address, and is forgotten after that second, so memory is bounded by the request rate.
 */
export function openRateLimit(requestsPerSecondMax: number): RateLimit {
  if (requestsPerSecondMax === 0) return async () => {}
  const limiter = new RateLimiterMemory({ points: requestsPerSecondMax, duration: 1 })
  const headersOf = (state: RateLimiterRes) => ({
    'ratelimit-limit': String(requestsPerSecondMax),
    'ratelimit-remaining': String(state.remainingPoints),
    'ratelimit-reset': String(Math.ceil(state.msBeforeNext / 1000)),
  })
  return async (key, trace) => {
    try {
      trace.limitHeaders = headersOf(await limiter.consume(key))
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      const headers = headersOf(refused)
      trace.limitHeaders = headers
      throw problem(
        'tooManyRequests',
        'too many requests; wait for the seconds that Retry-After names',
        {
          retryAfter: headers['ratelimit-reset'],
        },
      )
    }
  }
}
