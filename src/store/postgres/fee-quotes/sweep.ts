import type { Swept } from '../../fee-quotes.ts'
import { optionalWhole, whole } from '../../row.ts'
import { readSweepState, sweepColumns } from '../../sql/fee-quotes/fee-quote-rows.ts'
import { judgeSweep } from '../../sql/fee-quotes/judge-sweep.ts'
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'

/** Deletes old quotes, unless another process is doing so. */
export const sweepQuotes = (servers: Servers, rowsMax: number): Promise<Swept> =>
  inTransaction(servers, async (connection) => {
    const [row] = await connection.rows({ text: LOCK })
    if (row === undefined) return { outcome: 'swept', deleted: 0 }
    const at = whole(row, 'now')
    const last = readSweepState(row, optionalWhole(row, 'newest_at') ?? at)
    const { isRefused, expiredBefore, state, rowsMax: left } = judgeSweep(last, at)
    const rows = BigInt(Math.min(rowsMax, left))
    const deleted = await connection.rows({ text: SWEEP, values: [expiredBefore, rows] })
    const { lastRunAt, refusedAt = null, steadyFor } = state
    const values = [lastRunAt, BigInt(state.deleted + deleted.length), refusedAt, steadyFor]
    await connection.rows({ text: REMEMBER, values })
    return isRefused
      ? { outcome: 'refused', lastRunAt, at }
      : { outcome: 'swept', deleted: deleted.length }
  })

/** Waits for a sweep that runs. */
export const resetSweep = (servers: Servers): Promise<void> =>
  inTransaction(servers, (connection) => connection.execute(RESET))

const RESET = `
  update bursar.fee_quote_sweep
  set last_run_at = bursar.clock_microseconds(), deleted = 0, refused_at = null, steady_for = 0`

const LOCK = `
  select ${sweepColumns}, bursar.clock_microseconds() as now,
    (select created_at from bursar.fee_quote order by id desc limit 1) as newest_at
  from bursar.fee_quote_sweep for update skip locked`

/** Looks at the oldest ids only, as many as it may delete, and waits for no other transaction. */
const SWEEP = `
  with oldest as materialized (select id from bursar.fee_quote order by id limit $2::bigint),
  due as materialized (
    select quote.id from bursar.fee_quote as quote join oldest on oldest.id = quote.id
    where quote.expires_at < $1::bigint for update of quote skip locked
  )
  delete from bursar.fee_quote where id in (select id from due) returning 1`

const REMEMBER = `
  update bursar.fee_quote_sweep
  set last_run_at = $1::bigint, deleted = $2::bigint, refused_at = $3::bigint, steady_for = $4::bigint`
