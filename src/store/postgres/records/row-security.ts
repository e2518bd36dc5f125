/**
 * The customer's own side of the wall, as a source of rows that others are joined to laterally: first the setting is made,
 * for this transaction only, then rows are looked up by what it answers. So one statement, one round trip, holds both,
 * and each look-up is made while the setting names exactly its customer.
 *
 * The planner must not turn this round. Here `offset 0` and in each lateral look-up a limit keep them from being merged:
 * merged, the planner would conclude that the wall's own answer equals the setting and start with the records, before the
 * setting is made. (They would then answer nothing: the wall fails closed.)
 */
export const wallOf = (customer: string): string =>
  `(select set_config('bursar.customer_id', ${customer}, true) as customer_id offset 0) as wall`

/**
 * Where the log stands, in bytes: what a statement has seen was written before it. Asked for in the outermost select, so
 * after the rows were read.
 */
export const LOG_POSITION = `(case when pg_is_in_recovery()
  then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end - '0/0')::bigint`
