import type { Dialect } from '../dialect.ts'

/**
 * Creates the tables of guaranteed fees. Instants are microseconds, UTC. Ids are UUIDs of version
 * 7, which rise with time: an insert writes the last pages of the table, a sweep reads the first.
 */
export function createQuoteTables(dialect: Dialect): string {
  const { types, tableName, tableOptions, rowTableOptions, protect } = dialect
  return `
create table ${tableName('fee_quote')} (
  id ${types.id} primary key,
  customer_id ${types.key} not null,
  client_id ${types.key} not null,
  asset text not null,
  network text not null,
  address text not null,           -- as sent
  canonical_address text not null,
  amount text not null,
  fee text not null,
  total text not null,
  created_at ${types.integer} not null,
  expires_at ${types.integer} not null,
  withdrawal text,
  consumed_at ${types.integer},
  check ((withdrawal is null) = (consumed_at is null))
)${tableOptions};
-- Finds the quote that a withdrawal has consumed.
create index fee_quote_withdrawal on ${tableName('fee_quote')} (withdrawal)
  where withdrawal is not null;
-- Counts the open quotes of a client. SQLite needs the last column to count without the table.
create index fee_quote_unconsumed on ${tableName('fee_quote')}
  (customer_id, client_id, expires_at, consumed_at) where consumed_at is null;
${protect('fee_quote')}

-- The one row is what the sweep of old quotes remembers of its last run.
create table ${tableName('fee_quote_sweep')} (
  id ${types.integer} primary key check (id = 1),
  last_run_at ${types.integer},            -- null before the first run
  deleted ${types.integer} not null,       -- by this run
  refused_at ${types.integer},
  steady_for ${types.integer} not null
)${rowTableOptions};
insert into ${tableName('fee_quote_sweep')} values (1, null, 0, null, 0);`
}
