import type { Dialect } from '../dialect.ts'

/**
 * Creates the tables of what the audit log knows of clients, tokens and keys. Nobody who changes
 * those may change these: the roles of PostgreSQL may only add rows.
 */
export function createMarks(dialect: Dialect): string {
  const { types, auditTable, tableOptions } = dialect
  return `
create table ${auditTable('client_mark')} (
  client_id ${types.key} not null,
  number ${types.integer} not null,       -- of the change
  not_before ${types.integer} not null,   -- the row may have a later one, never an earlier one
  row_seal text not null,                 -- the seal of the row
  secrets text not null,                  -- the id, hash and times of each
  seal text not null,                     -- v1:<key id>:<hex>
  primary key (client_id, number)
)${tableOptions};

create table ${auditTable('token_end')} (
  jti ${types.key} not null,
  expires_at ${types.integer} not null,
  primary key (expires_at, jti)
)${tableOptions};

create table ${auditTable('key_end')} (
  id ${types.key} primary key,
  revoked_at ${types.integer} not null
)${tableOptions};

-- The keys of customers that an erasure destroyed. The fingerprint is made with the key itself, so
-- an entry tells nothing, and nobody without the key can make one.
create table ${auditTable('destroyed_key')} (
  fingerprint ${types.key} primary key,
  revision ${types.integer} not null      -- of the credentials
)${tableOptions};
create index destroyed_key_by_revision on ${auditTable('destroyed_key')} (revision);`
}

/** The secrets of a client, in their order, as its mark has them. */
export const markedSecrets = ({ joined, tableName }: Dialect, id: string): string => `coalesce((
    select ${joined('secret.one', ',')} from (
      select id || ' ' || hash || ' ' || created_at || ' ' || coalesce(cast(expires_at as text), '') as one
      from ${tableName('client_secret')} where client_id = ${id} order by sequence) as secret), '')`
