/** A position of the primary's log, and when it was seen (milliseconds, monotonic clock). */
type Sample = { readonly position: bigint; readonly at: number }

/**
 * The replay lag of a standby: the age of the newest sampled position that it has replayed.
 * PostgreSQL's own figure grows while the primary is idle and jumps with the servers' clocks.
 */
export type ReplayLag = {
  /** Adds a sample of the primary's log position. */
  sawPrimary(position: bigint, at: number): void
  /** Milliseconds. Infinity if the standby is behind the oldest sample. */
  of(replayed: bigint, now: number): number
  /** Drops the samples, because a new primary writes another log. */
  forget(): void
}

/** Keeps samples for `rememberMs`. A standby that is further behind is not read anyway. */
export function openReplayLag(rememberMs: number): ReplayLag {
  let samples: Sample[] = []
  return {
    sawPrimary: (position, at) => {
      samples = [...samples.filter((sample) => at - sample.at <= rememberMs), { position, at }]
    },
    of: (replayed, now) => {
      const newest = samples.at(-1)
      const reached = samples.findLast(({ position }) => position <= replayed)
      if (newest === undefined || reached === undefined) return Number.POSITIVE_INFINITY
      // The standby has replayed all that the primary is known to have written.
      return reached === newest ? 0 : now - reached.at
    },
    forget: () => {
      samples = []
    },
  }
}
