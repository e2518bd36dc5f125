import type { Swept } from '../fee-quotes.ts'
import { optionalWhole, whole } from '../row.ts'
import { judgeSweep } from './judge-sweep.ts'
import type { QuoteSessions } from './quote-sessions.ts'

type SweepSessions = Pick<QuoteSessions, 'dialect' | 'operator'>

/** Deletes old quotes, unless another process is doing so. */
export function sweepQuotes({ dialect, operator }: SweepSessions, rowsMax: number): Promise<Swept> {
  const { now, parameter, forUpdate } = dialect
  const [quotes, sweep] = ['fee_quote', 'fee_quote_sweep'].map(dialect.tableName)
  return operator.transact(async (session) => {
    const [row] = await session.rows({
      text: `
        select last_run_at, deleted, refused_at, steady_for, ${now} as now,
          (select created_at from ${quotes} order by id desc limit 1) as newest_at
        from ${sweep} ${forUpdate('skip')}`,
    })
    if (row === undefined) return { outcome: 'swept', deleted: 0 }
    const at = whole(row, 'now')
    const last = {
      // Before the first run the newest quote shows what time it is, if there is one.
      lastRunAt: optionalWhole(row, 'last_run_at') ?? optionalWhole(row, 'newest_at') ?? at,
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
