/**
 * Sets the tenant of row-level security for this transaction and returns it as the row `tenant`.
 * Look-ups join this row laterally, so one round trip sets the tenant and reads its records.
 *
 * The planner must not read records before the setting is made. `offset 0` here and a limit in each
 * lateral look-up keep it from merging the two. If it merged them, the policy would compare with
 * the previous setting and hide the records: it fails closed.
 */
export const tenantSetting = (customer: string): string =>
  `(select set_config('bursar.customer_id', ${customer}, true) as customer_id offset 0) as tenant`

/**
 * The position in the log, in bytes. Everything that the statement has seen was written before it,
 * because the outermost select evaluates it after the rows were read.
 */
export const LOG_POSITION = `(case when pg_is_in_recovery()
  then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end - '0/0')::bigint`
