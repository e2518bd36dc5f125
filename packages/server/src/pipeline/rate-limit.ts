import { systemTime } from '@bursar/base'
import { problem, type RateLimit } from '@bursar/contract'

const WINDOW_MS = 1000

/** The requests of one key, and when they are forgotten. */
type Window = { requests: number; readonly endsAt: number }

/**
 * Limits the requests of each key in one second, on this process; 0 is no limit. A key is a client
 * id or an address, and is forgotten after that second, so memory is bounded by the request rate.
 */
export function openRateLimit(requestsPerSecondMax: number): RateLimit {
  if (requestsPerSecondMax === 0) return async () => {}
  // Windows end in the order in which they began, which is that of the map.
  const windows = new Map<string, Window>()
  const windowOf = (key: string, now: number): Window => {
    for (const [ended, { endsAt }] of windows) {
      if (endsAt > now) break
      windows.delete(ended)
    }
    const window = windows.get(key) ?? { requests: 0, endsAt: now + WINDOW_MS }
    windows.set(key, window)
    return window
  }
  return async (key, trace) => {
    const now = systemTime.elapsedMs()
    const window = windowOf(key, now)
    window.requests += 1
    const retryAfter = String(Math.ceil((window.endsAt - now) / 1000))
    trace.limitHeaders = {
      'ratelimit-limit': String(requestsPerSecondMax),
      'ratelimit-remaining': String(Math.max(0, requestsPerSecondMax - window.requests)),
      'ratelimit-reset': retryAfter,
    }
    if (window.requests <= requestsPerSecondMax) return
    throw problem(
      'tooManyRequests',
      'too many requests; wait for the seconds that Retry-After names',
      { retryAfter },
    )
  }
}
