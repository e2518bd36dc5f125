/**
 * Settings of sessions that serve customers. A page must be an ordered index scan, but the planner
 * does not see the parameters of a prepared statement and could choose to sort all rows.
 */
export const readingSessions = (withinMs: number) => ({
  statement_timeout: withinMs,
  // Before the deadline of the request, so that its failure names the lock, and the session stays.
  lock_timeout: Math.ceil((withinMs * 4) / 5),
  idle_in_transaction_session_timeout: 10_000,
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
})

/**
 * Settings of sessions that import, which may take long and wait for another merge. ANALYZE needs
 * only the number of rows, so the statistics target is low.
 */
export const loadingSessions = {
  statement_timeout: 0,
  lock_timeout: 60_000,
  default_statistics_target: 10,
  work_mem: '256MB',
  temp_buffers: '512MB',
  jit: 'off',
}
