/** Where the primary's log stood, and when that was seen (milliseconds of a clock that only runs forward). */
type Sighting = { readonly position: bigint; readonly at: number }

/**
 * How far a standby is behind, by our own clock and the log's positions alone: the age of the newest position of the
 * primary that the standby has replayed. What PostgreSQL itself tells (the time of the last replayed commit) grows on
 * an idle primary and jumps with the servers' clocks.
 */
export type ReplayLag = {
  /** Notes where the primary's log stands. */
  sawPrimary(position: bigint, at: number): void
  /** Milliseconds; infinity where it is further behind than anything remembered. */
  of(replayed: bigint, now: number): number
  /** A new primary's log is another log. */
  forget(): void
}

/** Positions older than `rememberMs` are of no use: a standby that far behind is not asked anyway. */
export function openReplayLag(rememberMs: number): ReplayLag {
  let sightings: Sighting[] = []
  return {
    sawPrimary: (position, at) => {
      sightings = [...sightings.filter((seen) => at - seen.at <= rememberMs), { position, at }]
    },
    of: (replayed, now) => {
      const newest = sightings.at(-1)
      const reached = sightings.findLast(({ position }) => position <= replayed)
      if (newest === undefined || reached === undefined) return Number.POSITIVE_INFINITY
      // Level with the primary as last seen: whatever has happened since, nothing is known to be missing.
      return reached === newest ? 0 : now - reached.at
    },
    forget: () => {
      sightings = []
    },
  }
}
