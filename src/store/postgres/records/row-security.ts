/**
 * Sets the tenant of row-level security for this transaction and returns it as the row `tenant`,
 * which look-ups join laterally. `offset 0` here and a limit in each look-up keep the planner from
 * reading records first. If it did, the policy would hide them: it fails closed.
 */
export const tenantSetting = (customer: string): string =>
  `(select set_config('bursar.customer_id', ${customer}, true) as customer_id offset 0) as tenant`

/** The log position in bytes. The outermost select evaluates it after the rows were read. */
export const LOG_POSITION = `(case when pg_is_in_recovery()
  then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end - '0/0')::bigint`
