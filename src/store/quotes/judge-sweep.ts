import { limits } from '../../platform/limits.ts'

/** What the sweep of old quotes remembers, in microseconds of the store's clock. */
export type SweepState = {
  /** When the last run that was not refused began. */
  readonly lastRunAt: bigint
  /** Quotes that this run has deleted. */
  readonly deleted: number
  /** The last time that was refused. */
  readonly refusedAt: bigint | undefined
  /** For how long refused times have passed like those of a right clock. */
  readonly steadyFor: bigint
}

export type SweepJudgement = {
  readonly isRefused: boolean
  /** Quotes that expired earlier may be deleted, but no more than `rowsMax`. */
  readonly expiredBefore: bigint
  readonly rowsMax: number
  /** Without the quotes that the caller deletes. */
  readonly state: SweepState
}

const minute = 60_000_000n
const day = 24n * 60n * minute
const jumpMax = BigInt(limits.quoteSweepJumpHours) * 60n * minute
const steadyMin = BigInt(limits.quoteSweepSteadyDays) * day
const lookMax = BigInt(limits.quoteSweepLookMinutes) * minute
const runTime = BigInt(limits.quoteSweepIdleMs) * 1000n

/**
 * Judges what a sweep may delete. A clock that is days ahead makes every quote look old, so a time
 * far from the last run is refused. It is believed once it has passed steadily for days, because a
 * store that was not in use looks the same. Quotes are then kept too long, which harms nobody.
 */
export function judgeSweep(state: SweepState, now: bigint): SweepJudgement {
  const expiredBefore = now - BigInt(limits.quoteKeptDays) * day
  if (distance(now, state.lastRunAt) > jumpMax) {
    const steadyFor = steadyUntil(state, now)
    if (steadyFor < steadyMin) {
      const refused = { ...state, refusedAt: now, steadyFor }
      return { isRefused: true, expiredBefore, rowsMax: 0, state: refused }
    }
  }
  const isSameRun = now >= state.lastRunAt && now - state.lastRunAt < runTime
  const [lastRunAt, deleted] = isSameRun ? [state.lastRunAt, state.deleted] : [now, 0]
  return {
    isRefused: false,
    expiredBefore,
    rowsMax: Math.max(limits.quoteSweepRunRows - deleted, 0),
    state: { lastRunAt, deleted, refusedAt: undefined, steadyFor: 0n },
  }
}

/** A pause, such as a restart, does not count. Another jump starts again. */
function steadyUntil({ refusedAt, steadyFor }: SweepState, now: bigint): bigint {
  if (refusedAt === undefined || distance(now, refusedAt) > jumpMax) return 0n
  const passed = now - refusedAt
  return passed > 0n && passed <= lookMax ? steadyFor + passed : steadyFor
}

const distance = (one: bigint, other: bigint): bigint => (one > other ? one - other : other - one)
