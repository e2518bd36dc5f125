import { limitsOf } from '@bursar/base'
import { postgresLimits } from '../limits.ts'

const limits = limitsOf({
  /** A transaction of a command waits this long for its process: an export for its reader. */
  operatorIdleMs: 60_000,
  /** How long a merge waits for another one. Its records have all arrived. */
  mergeLockMs: 60_000,
})

/** Settings of a session, by their names in PostgreSQL. Times are in milliseconds. */
export type SessionSettings = Readonly<Record<string, string | number>>

/**
 * Settings of sessions that answer requests. A page must be an ordered index scan. But the planner
 * does not see the parameters of a prepared statement, and could choose to sort all rows.
 */
export const readingSessions = (withinMs: number) => ({
  statement_timeout: withinMs,
  // Before the deadline of the request, so that its failure names the lock, and the session stays.
  lock_timeout: Math.ceil((withinMs * 4) / 5),
  idle_in_transaction_session_timeout: 10_000,
  plan_cache_mode: 'force_generic_plan',
  enable_indexscan: 'on',
  enable_indexonlyscan: 'on',
  enable_nestloop: 'on',
  enable_sort: 'on',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
})

/** Settings of the sessions of commands and of background jobs. A merge has its own deadline. */
export const operatorSessions = {
  statement_timeout: postgresLimits.operatorStatementMs,
  lock_timeout: limits.mergeLockMs,
  idle_in_transaction_session_timeout: limits.operatorIdleMs,
  client_connection_check_interval: postgresLimits.databaseClientCheckMs,
  // Read once, by the first temporary table of a session.
  temp_buffers: '512MB',
  jit: 'off',
}

/** What a transaction over many rows needs, whatever the settings of its session. */
export const bulkTransaction = (statementMs: number) => ({
  statement_timeout: statementMs,
  lock_timeout: limits.mergeLockMs,
  idle_in_transaction_session_timeout: limits.operatorIdleMs,
  client_connection_check_interval: postgresLimits.databaseClientCheckMs,
  // ANALYZE of staged rows needs little more than their number.
  default_statistics_target: 10,
  work_mem: '256MB',
  plan_cache_mode: 'auto',
  enable_seqscan: 'on',
  enable_bitmapscan: 'on',
  enable_hashjoin: 'on',
  enable_mergejoin: 'on',
  enable_memoize: 'on',
  jit: 'off',
})

/** Statements that make the settings those of the transaction that runs. */
export const setLocal = (settings: SessionSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `set local ${name} = '${value}'`)
    .join('; ')
