import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { clientAndSecretColumns, clientColumns, keyColumns } from '../sql/credential-rows.ts'
import { prepare } from './database.ts'

/** The revision that the current transaction has just raised. */
const current = '(select value from revision)'

const texts = {
  revision: 'select value from revision',
  bump: 'update revision set value = value + 1',

  changedClients: `select ${clientColumns} from client where revision > ? order by created_at, id`,
  listClients: `select ${clientAndSecretColumns} from client
    left join client_secret as secret on secret.client_id = client.id
    order by client.created_at, client.id, secret.sequence`,
  // Reads the secrets of an unknown client too, so that both cases take the same time.
  findClient: `select ${clientAndSecretColumns} from (select ? as id) as requested
    left join client on client.id = requested.id
    left join client_secret as secret on secret.client_id = requested.id
    order by secret.sequence`,
  addClient: `insert into client (id, customer_id, name, scopes, method, jwks, issuer, external_id, created_at, not_before, bound_to, revision)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${current}) on conflict do nothing`,
  addSecret: 'insert into client_secret (client_id, id, hash, created_at) values (?, ?, ?, ?)',
  // A limit of -1 means no limit; the offset keeps the newest.
  dropOlderSecrets: `delete from client_secret where sequence in
    (select sequence from client_secret where client_id = ? order by sequence desc limit -1 offset ?)`,
  // A secret that expires earlier keeps its time.
  expireSecrets: `update client_secret set expires_at = min(coalesce(expires_at, ?1), ?1)
    where client_id = ?2`,
  removeClient: 'delete from client where id = ?',
  raiseNotBefore: `update client set not_before = max(not_before, ?), revision = ${current}
    where id = ?`,
  // Disabling a client again keeps the first time.
  disableClient: `update client set disabled_at = coalesce(disabled_at, ?), revision = ${current}
    where id = ?`,
  useClient: 'update client set last_used_at = ? where id = ?',
  useSecret: 'update client_secret set last_used_at = ? where id = ?',

  listKeys: `select ${keyColumns} from purpose_key order by sequence`,
  hasKey: 'select 1 from purpose_key where purpose = ? limit 1',
  revokeOtherKeys: `update purpose_key set revoked_at = ?, revision = ${current}
    where purpose = ? and id <> ? and revoked_at is null`,
  addKey: `insert into purpose_key (${keyColumns}, revision)
    values (?, ?, ?, ?, ?, ?, ?, ${current})`,
  rewrapKey: `update purpose_key set wrapped = ?, master_id = ?, revision = ${current}
    where id = ?`,
  changedKey: 'select 1 from purpose_key where revision > ? limit 1',

  deniedTokens: 'select jti, expires_at from denied_token where expires_at > ? and revision > ?',
  denyToken: `insert into denied_token values (?, ?, ${current}) on conflict do update
    set expires_at = max(expires_at, excluded.expires_at), revision = excluded.revision`,
  forgetDeniedTokens: 'delete from denied_token where expires_at <= ?',
  useAssertion: 'insert into used_assertion values (?, ?, ?) on conflict do nothing',
  forgetAssertions: 'delete from used_assertion where expires_at <= ?',
} as const

export type Statements = Readonly<Record<keyof typeof texts, StatementSync>>

/** Every statement of the credential store, prepared once. */
export function prepareStatements(db: DatabaseSync): Statements {
  const prepared = Object.entries(texts).map(([name, sql]) => [name, prepare(db, sql)])
  return Object.fromEntries(prepared) as Statements
}
