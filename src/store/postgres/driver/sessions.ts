/**
 * Settings of every session. A page is always a walk along an index in order; the planner, which does not see the
 * parameters of a prepared statement, would now and then read and sort a customer's whole stretch of a table instead.
 * A generic plan costs nothing to plan, and compiling one would cost more than any of them takes.
 */
export const readingSessions = (withinMs: number) => ({
  statement_timeout: withinMs,
  lock_timeout: withinMs,
  idle_in_transaction_session_timeout: 10_000,
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
})

/**
 * An import may take long and wait for another one's merge. It sorts whole records, and what memory does not hold is written
 * to disk and read again. They are analyzed for how many they are; finer statistics of what their text is like would take
 * longer than a check does.
 */
export const loadingSessions = {
  statement_timeout: 0,
  lock_timeout: 60_000,
  default_statistics_target: 10,
  work_mem: '256MB',
  temp_buffers: '512MB',
  jit: 'off',
}
