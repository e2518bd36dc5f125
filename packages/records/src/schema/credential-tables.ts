import type { Dialect } from '../dialect.ts'

/**
 * Creates the tables of clients, their secrets, the wrapped keys, refused tokens, used assertions
 * and the recovery. They are not divided by customer: docs/decisions/0031-row-level-security.md
 * lists what each role of PostgreSQL may do. Instants are microseconds, UTC.
 */
export function createCredentialTables(dialect: Dialect): string {
  const { types, tableName, tableOptions, rowTableOptions } = dialect
  return `
-- Every change that running servers must learn of adds one to this number. It locks this row first,
-- so changes run one after another, and a reader of a number sees every change up to it.
create table ${tableName('credential_revision')} (
  one ${types.integer} primary key default 1 check (one = 1),
  value ${types.integer} not null
)${rowTableOptions};
insert into ${tableName('credential_revision')} values (1, 1);

create table ${tableName('client')} (
  id ${types.key} primary key,
  customer_id ${types.key},               -- null: a client of the operator
  name text not null,
  scopes text not null,                   -- separated by single spaces
  method ${types.key} not null check (method in ('secret', 'keys', 'issuer')),
  jwks text,
  issuer ${types.key},
  external_id ${types.key},
  created_at ${types.integer} not null,
  not_before ${types.integer} not null,   -- tokens issued before this are refused
  disabled_at ${types.integer},
  last_used_at ${types.integer},
  bound_to ${types.key},                  -- the one customer of a client of the operator
  seal text not null,                     -- v1:<key id>:<hex>; a row without it is refused
  revision ${types.integer} not null default 0,
  check ((method = 'keys') = (jwks is not null)),
  check ((method = 'issuer') = (issuer is not null)),
  check ((method = 'issuer') = (external_id is not null))
)${tableOptions};
create unique index client_by_external_id on ${tableName('client')} (issuer, external_id)
  where issuer is not null;
create index client_by_revision on ${tableName('client')} (revision);

create table ${tableName('client_secret')} (
  sequence ${types.sequence},
  id ${types.key} not null unique,
  client_id ${types.key} not null references ${tableName('client')} (id),
  hash text not null,                     -- hmac256:<key id>:<hex>
  created_at ${types.integer} not null,
  last_used_at ${types.integer},
  expires_at ${types.integer}             -- null: the secret does not expire
)${rowTableOptions};
create index client_secret_by_client on ${tableName('client_secret')} (client_id, sequence);

create table ${tableName('purpose_key')} (
  sequence ${types.sequence},
  id ${types.key} not null unique,
  purpose ${types.key} not null,
  wrapped text not null,
  master_id text not null,
  created_at ${types.integer} not null,
  active_from ${types.integer} not null,
  revoked_at ${types.integer},
  revision ${types.integer} not null default 0
)${rowTableOptions};
create index purpose_key_by_purpose on ${tableName('purpose_key')} (purpose);

-- A token that is refused twice with two expiries has two rows, so that no role of a server needs
-- the right to update rows.
create table ${tableName('denied_token')} (
  jti ${types.key} not null,
  expires_at ${types.integer} not null,
  revision ${types.integer} not null default 0,
  primary key (jti, expires_at)
)${tableOptions};
create index denied_token_by_expiry on ${tableName('denied_token')} (expires_at);
create index denied_token_by_revision on ${tableName('denied_token')} (revision);

create table ${tableName('used_assertion')} (
  client_id ${types.key} not null,
  jti ${types.key} not null,
  expires_at ${types.integer} not null,
  primary key (client_id, jti)
)${tableOptions};
create index used_assertion_by_expiry on ${tableName('used_assertion')} (expires_at);

-- The last restore of the store.
create table ${tableName('recovery')} (
  one ${types.integer} primary key default 1 check (one = 1),
  restored_to ${types.integer} not null,    -- the point in time of the restored state
  restored_at ${types.integer} not null,
  quotes_before ${types.integer} not null,  -- quotes created before this were restored
  clients_confirmed_at ${types.integer},    -- null: no client may get a token
  erasures_repeated_at ${types.integer},    -- null: customers that were erased since may be back
  reconciled_at ${types.integer}            -- null: no restored quote may be consumed
)${rowTableOptions};

-- Customers whose records, clients and keys were removed. A customer with the same id may have come
-- back later, and may have been erased again.
create table ${tableName('erasure')} (
  customer_id ${types.key} not null,
  begun_at ${types.integer} not null,
  ended_at ${types.integer},                -- null: it was cut off, and must be run again
  removed text,                             -- JSON: how many records, versions and so on
  primary key (customer_id, begun_at)
)${tableOptions};`
}

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
${protect('fee_quote', 'customer_id')}

-- Consumed quotes that have no event yet. On the embedded store events are in the other file.
create table ${tableName('fee_event_due')} (
  id ${types.id} primary key,
  customer_id ${types.key} not null
)${tableOptions};
${protect('fee_event_due', 'customer_id')}

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

/**
 * Creates the tables of the audit log. On PostgreSQL they are in a schema of their own, into which
 * the roles of the program may only insert lines. Instants are microseconds, UTC.
 */
export function createAuditTables({
  types,
  auditSchema,
  auditTable,
  tableOptions,
  rowTableOptions,
}: Dialect) {
  return `${auditSchema}
create table ${auditTable('line')} (
  chain ${types.key} not null,
  sequence ${types.integer} not null check (sequence > 0),
  at ${types.integer} not null,
  key_id ${types.key} not null,
  body text not null,
  digest ${types.key} not null,
  primary key (chain, sequence)
)${tableOptions};
create index audit_line_by_time on ${auditTable('line')} (at, chain, sequence);

-- What is left of the first lines of a chain after their retention.
create table ${auditTable('anchor')} (
  chain ${types.key} primary key,
  sequence ${types.integer} not null,
  digest ${types.key} not null,
  key_id ${types.key} not null,
  seal ${types.key} not null
)${tableOptions};

-- Who saw a record in full, by record: what lines say of it, which a trigger copies here. Without an
-- id, a list of the customer's records was shown in full.
create table ${auditTable('seen')} (
  number ${types.sequence},
  customer ${types.key} not null,
  kind ${types.key} not null,
  id ${types.key} not null,
  at ${types.integer} not null,
  chain ${types.key} not null,
  sequence ${types.integer} not null,
  entry text not null                       -- JSON: action, actor, reason, rows
)${rowTableOptions};
create index seen_by_record on ${auditTable('seen')} (customer, kind, id, at, number);
create index seen_by_line on ${auditTable('seen')} (chain, sequence);`
}
