import type { Dialect } from '../dialect.ts'

/**
 * Creates the tables of what the audit log knows of clients, tokens and keys. Nobody who changes
 * those may change these: the roles of PostgreSQL may only add rows. The clients of a store from
 * before have a mark without a seal, which has the number 0.
 */
export function createMarks(dialect: Dialect): string {
  const { types, auditTable, tableName, tableOptions } = dialect
  const secrets = markedSecrets(dialect, 'client.id')
  return `
create table ${auditTable('client_mark')} (
  client_id ${types.key} not null,
  number ${types.integer} not null,       -- of the change
  not_before ${types.integer} not null,   -- the row may have a later one, never an earlier one
  row_seal text not null,                 -- the seal of the row
  secrets text not null,                  -- the id, hash and times of each
  seal text not null,                     -- v1:<key id>:<hex>; - for number 0
  primary key (client_id, number)
)${tableOptions};
insert into ${auditTable('client_mark')}
  select id, 0, not_before, seal, ${secrets}, '-' from ${tableName('client')} as client;

create table ${auditTable('token_end')} (
  jti ${types.key} not null,
  expires_at ${types.integer} not null,
  primary key (expires_at, jti)
)${tableOptions};
insert into ${auditTable('token_end')} select jti, expires_at from ${tableName('denied_token')};

create table ${auditTable('key_end')} (
  id ${types.key} primary key,
  revoked_at ${types.integer} not null
)${tableOptions};
insert into ${auditTable('key_end')}
  select id, revoked_at from ${tableName('purpose_key')} where revoked_at is not null;`
}

/** The secrets of a client, in their order, as its mark has them. */
export const markedSecrets = ({ joined, tableName }: Dialect, id: string): string => `coalesce((
    select ${joined('secret.one', ',')} from (
      select id || ' ' || hash || ' ' || created_at || ' ' || coalesce(cast(expires_at as text), '') as one
      from ${tableName('client_secret')} where client_id = ${id} order by sequence) as secret), '')`
