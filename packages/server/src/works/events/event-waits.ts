import { limitsOf, openTally } from '@bursar/base'
import { type Problem, problem } from '@bursar/contract'

const limits = limitsOf({
  /** Requests that wait for events, of one client and of a process. Each holds some 23 KB. */
  eventsWaitingPerClientMax: 100,
  eventsWaitingMax: 12_000,
})

/** Bounds the requests that wait for events. They are none of the requests in progress. */
export type EventWaits = {
  /** Counts a request of a client, and returns what ends that. Throws a 429 or a 503. */
  enter(clientId: string): () => void
}

export function openEventWaits(): EventWaits {
  const waiting = openTally()
  return {
    enter: (clientId) => {
      if (waiting.of(clientId) >= limits.eventsWaitingPerClientMax) throw tooManyOfClient
      if (waiting.total() >= limits.eventsWaitingMax) throw tooMany
      waiting.add(clientId, 1)
      return () => waiting.add(clientId, -1)
    },
  }
}

const tooManyOfClient: Problem = problem(
  'tooManyRequests',
  `${limits.eventsWaitingPerClientMax} requests of this client wait for events; wait for their answers`,
  { retryAfter: 1 },
)

const tooMany: Problem = problem(
  'unavailable',
  'too many requests wait for events; send the request again, or without wait',
  { retryAfter: 1 },
)
