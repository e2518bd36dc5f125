import { limitsOf, systemTime } from '@bursar/base'

const limits = limitsOf({
  /** The window in which failed authentications are counted. */
  failureWindowSeconds: 60,
  /** Attempts for one address and client that wait for others to end; further ones get 429. */
  attemptsWaitingMax: 200,
  attemptRetryMs: 1000,
  /** Addresses that the limiter remembers, about 400 bytes each. The oldest is dropped first. */
  failureKeysMax: 10_000,
})

/** Counts wrong secrets by key. With the attempts in progress they never exceed a maximum. */
export type WrongSecrets = {
  /** Waits while too many attempts are in progress. Returns 0, or milliseconds to stay away. */
  enter(key: string): Promise<number>
  /** Ends an admitted attempt. A failure counts for the rest of the window. */
  leave(key: string, outcome: 'succeeded' | 'failed'): void
}

type Entry = {
  failures: number
  /** When the failures are forgotten, by `Time.elapsedMs`. */
  until: number
  inProgress: number
  readonly waiting: (() => void)[]
}

/**
 * Counts an attempt before it is checked, so that a burst of guesses is not checked all at once. A
 * burst of right secrets only queues: a customer who starts 20 processes at once must not see 429.
 * When there are too many keys, it drops the one that failed longest ago.
 */
export function openWrongSecrets(failuresMax: number): WrongSecrets {
  const now = () => systemTime.elapsedMs()
  const entries = new Map<string, Entry>()
  const entryOf = (key: string): Entry => {
    const known = entries.get(key)
    const entry = known ?? { failures: 0, until: 0, inProgress: 0, waiting: [] }
    if (entry.until <= now()) entry.failures = 0
    if (known === undefined) entries.set(key, entry)
    if (entries.size > limits.failureKeysMax) dropOldest(entries)
    return entry
  }
  return {
    enter: async (key) => {
      for (;;) {
        const entry = entryOf(key)
        if (entry.failures >= failuresMax) return entry.until - now()
        if (entry.failures + entry.inProgress < failuresMax) {
          entry.inProgress += 1
          return 0
        }
        if (entry.waiting.length >= limits.attemptsWaitingMax) return limits.attemptRetryMs
        await new Promise<void>((resolve) => entry.waiting.push(resolve))
      }
    },
    leave: (key, outcome) => {
      const entry = entryOf(key)
      entry.inProgress = Math.max(0, entry.inProgress - 1)
      if (outcome === 'failed') {
        if (entry.failures === 0) entry.until = now() + limits.failureWindowSeconds * 1000
        entry.failures += 1
        // A Map keeps the order of insertion, so the first entry failed longest ago.
        entries.delete(key)
        entries.set(key, entry)
      }
      // As many check again as have a place now, or all of them once the limit is reached.
      const free = failuresMax - entry.failures - entry.inProgress
      const resumed = entry.failures >= failuresMax ? entry.waiting.length : Math.max(0, free)
      for (const resume of entry.waiting.splice(0, resumed)) resume()
      if (entry.failures === 0 && !isInUse(entry)) entries.delete(key)
    },
  }
}

/** An entry with attempts stays, since its attempts return to it. */
const isInUse = ({ inProgress, waiting }: Entry): boolean => inProgress > 0 || waiting.length > 0

function dropOldest(entries: Map<string, Entry>): void {
  for (const [key, entry] of entries) {
    if (isInUse(entry)) continue
    entries.delete(key)
    return
  }
}
