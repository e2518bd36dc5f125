import { baseLimits, limitsOf } from '@bursar/base'
import type { Swept } from '../fee-quotes.ts'
import { recordsLimits } from '../limits.ts'
import { optionalWhole, whole } from '../row.ts'
import type { QuoteSessions } from './quote-sessions.ts'

const limits = limitsOf({
  /** Quotes are kept for a quarter, so that reconciliation can tell expired from consumed. */
  quoteKeptDays: 90,
  /** What one run deletes at most: 14 million quotes a day, but no whole ledger in a moment. */
  quoteSweepRunRows: 10_000,
  /** A sweep of quotes refuses a clock that is further than this from its last run. */
  quoteSweepJumpHours: 24,
  /** Two looks at a steady clock are no further apart. A run is due every minute. */
  quoteSweepLookMinutes: 5,
})

type SweepSessions = Pick<QuoteSessions, 'dialect' | 'operator'>

/** Deletes old quotes, unless another process is doing so. */
export function sweepQuotes({ dialect, operator }: SweepSessions, rowsMax: number): Promise<Swept> {
  const { now, parameter, forUpdate } = dialect
  const [quotes, sweep] = ['fee_quote', 'fee_quote_sweep'].map(dialect.tableName)
  return operator.transact(async (session) => {
    const [row] = await session.rows({
      text: `
        select last_run_at, deleted, refused_at, steady_for, ${now} as now,
          (select created_at from ${quotes} order by id limit 1) as oldest_at
        from ${sweep} ${forUpdate('skip')}`,
    })
    if (row === undefined) return { outcome: 'swept', deleted: 0 }
    const at = whole(row, 'now')
    const last = {
      // Before the first run the oldest quote shows what time it is, if there is one. The newest
      // may be that of a server whose clock is ahead.
      lastRunAt: optionalWhole(row, 'last_run_at') ?? optionalWhole(row, 'oldest_at') ?? at,
      deleted: Number(whole(row, 'deleted')),
      refusedAt: optionalWhole(row, 'refused_at'),
      steadyFor: whole(row, 'steady_for'),
    }
    const { isRefused, expiredBefore, state, rowsMax: left } = judgeSweep(last, at)
    // Looks at the oldest ids only, as many as it may delete, and waits for no other transaction.
    const deleted = await session.rows({
      text: `
        with oldest as materialized (
          select id from ${quotes} order by id limit ${parameter(2, 'bigint')}
        ),
        due as materialized (
          select id from ${quotes}
          where id in (select id from oldest) and expires_at < ${parameter(1, 'bigint')}
          ${forUpdate('skip')}
        )
        delete from ${quotes} where id in (select id from due) returning 1`,
      values: [expiredBefore, Math.min(rowsMax, left)],
    })
    const { lastRunAt, refusedAt = null, steadyFor } = state
    await session.rows({
      text: `update ${sweep} set last_run_at = ${parameter(1, 'bigint')},
        deleted = ${parameter(2, 'bigint')}, refused_at = ${parameter(3, 'bigint')},
        steady_for = ${parameter(4, 'bigint')}`,
      values: [lastRunAt, state.deleted + deleted.length, refusedAt, steadyFor],
    })
    return isRefused
      ? { outcome: 'refused', lastRunAt: last.lastRunAt, at }
      : { outcome: 'swept', deleted: deleted.length }
  })
}

/** Waits for a sweep that runs. */
export const resetSweep = ({ dialect, operator }: SweepSessions): Promise<void> =>
  operator.transact((session) =>
    session.run(
      `update ${dialect.tableName('fee_quote_sweep')}
       set last_run_at = ${dialect.now}, deleted = 0, refused_at = null, steady_for = 0`,
    ),
  )

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
const steadyMin = BigInt(recordsLimits.quoteSweepSteadyDays) * day
const lookMax = BigInt(limits.quoteSweepLookMinutes) * minute
const runTime = BigInt(baseLimits.quoteSweepIdleMs) * 1000n

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
