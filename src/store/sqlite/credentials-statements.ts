import type { DatabaseSync, StatementSync } from 'node:sqlite'

const texts = {
  revision: 'select value from revision',
  bump: 'update revision set value = value + 1',

  listClients: 'select * from client order by created_at, id',
  findClient: 'select * from client where id = ?',
  listSecrets: 'select * from client_secret order by client_id, sequence',
  secretsOfClient: 'select * from client_secret where client_id = ? order by sequence',
  addClient: `insert into client (id, customer_id, name, scopes, method, jwks, issuer, external_id, created_at, not_before)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
  addSecret: 'insert into client_secret (client_id, id, hash, created_at) values (?, ?, ?, ?)',
  // A limit of -1 means none, so the offset alone says how many of the newest stay.
  dropOlderSecrets: `delete from client_secret where sequence in
    (select sequence from client_secret where client_id = ? order by sequence desc limit -1 offset ?)`,
  removeClient: 'delete from client where id = ?',
  raiseNotBefore: 'update client set not_before = max(not_before, ?) where id = ?',
  // The first time stands: disabling twice does not make it look more recent.
  disableClient: 'update client set disabled_at = coalesce(disabled_at, ?) where id = ?',
  useClient: 'update client set last_used_at = ? where id = ?',
  useSecret: 'update client_secret set last_used_at = ? where id = ?',

  listKeys: 'select * from purpose_key order by sequence',
  hasKey: 'select 1 from purpose_key where purpose = ? limit 1',
  revokeOtherKeys:
    'update purpose_key set revoked_at = ? where purpose = ? and id <> ? and revoked_at is null',
  addKey: `insert into purpose_key (id, purpose, wrapped, master_id, created_at, active_from, revoked_at)
    values (?, ?, ?, ?, ?, ?, ?)`,
  rewrapKey: 'update purpose_key set wrapped = ?, master_id = ? where id = ?',

  deniedTokens: 'select jti, expires_at from denied_token where expires_at > ?',
  denyToken: `insert into denied_token values (?, ?)
    on conflict do update set expires_at = max(expires_at, excluded.expires_at)`,
  forgetDeniedTokens: 'delete from denied_token where expires_at <= ?',
  useAssertion: 'insert into used_assertion values (?, ?, ?) on conflict do nothing',
  forgetAssertions: 'delete from used_assertion where expires_at <= ?',
} as const

export type Statements = Readonly<Record<keyof typeof texts, StatementSync>>

/** Every statement of the credential store, prepared once. Integers come back as bigint. */
export function prepareStatements(db: DatabaseSync): Statements {
  const prepared = Object.entries(texts).map(([name, sql]) => {
    const statement = db.prepare(sql)
    statement.setReadBigInts(true)
    return [name, statement] as const
  })
  return Object.fromEntries(prepared) as Statements
}
