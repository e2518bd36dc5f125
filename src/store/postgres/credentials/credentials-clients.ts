import type { Client, CredentialStore, NewSecret } from '../../credentials.ts'
import {
  clientAndSecretColumns,
  clientValues,
  readClientsWithSecrets,
} from '../../sql/credential-rows.ts'
import type { Servers } from '../cluster/servers.ts'
import { storable } from '../driver/cells.ts'
import type { Connection } from '../driver/connection.ts'
import type { CredentialChanges } from './credential-changes.ts'

export function clientMethods(servers: Servers, { change }: CredentialChanges) {
  return {
    // Reads the secrets of an unknown client too, so that both cases take the same time.
    findClient: async (id) => {
      const rows = await servers.rows({
        text: `
          select ${clientAndSecretColumns}
          from (select $1::text collate "C" as id) as requested
          left join bursar.client on client.id = requested.id
          left join bursar.client_secret as secret on secret.client_id = requested.id
          order by secret.sequence`,
        values: [storable(id)],
        prepare: true,
      })
      return readClientsWithSecrets(rows)[0]
    },
    listClients: async () => {
      const rows = await servers.rows({
        text: `select ${clientAndSecretColumns} from bursar.client
          left join bursar.client_secret as secret on secret.client_id = client.id
          order by client.created_at, client.id, secret.sequence`,
      })
      return readClientsWithSecrets(rows)
    },
    addClient: (client, secret) =>
      change(async (connection) => {
        if (!(await insertClient(connection, client))) return 'taken'
        if (secret !== undefined) await insertSecret(connection, client.id, secret)
        return 'added'
      }),
    restoreClient: (client, secret) =>
      change(async (connection) => {
        await dropOlderSecrets(connection, client.id, 0)
        const values = [client.id]
        await connection.rows({ text: 'delete from bursar.client where id = $1', values })
        await insertClient(connection, client)
        await insertSecret(connection, client.id, secret)
      }),
    rotateSecret: (clientId, { secret, previousUntil, notBefore }) =>
      change(async (connection) => {
        if (!(await raiseNotBefore(connection, clientId, notBefore ?? 0n))) return false
        await dropOlderSecrets(connection, clientId, previousUntil === undefined ? 0 : 1)
        if (previousUntil !== undefined) await expireSecrets(connection, clientId, previousUntil)
        await insertSecret(connection, clientId, secret)
        return true
      }),
    disableClient: (clientId, at, notBefore) =>
      change(async (connection) => {
        if (!(await raiseNotBefore(connection, clientId, notBefore))) return false
        // Disabling a client again keeps the first time.
        await connection.rows({
          text: 'update bursar.client set disabled_at = coalesce(disabled_at, $2::bigint) where id = $1',
          values: [clientId, at],
        })
        return true
      }),
    // Locks the client before its secret, as a rotation does, so that the two cannot deadlock.
    recordUse: async (clientId, secretId, at) => {
      await servers.rows({
        text: `
          with used as (
            update bursar.client set last_used_at = $2::bigint where id = $1 returning 1
          )
          update bursar.client_secret set last_used_at = $2::bigint from used where id = $3`,
        values: [clientId, at, secretId ?? null],
      })
    },
  } satisfies Partial<CredentialStore>
}

/** False if a client already has the id, or the pair of issuer and external id. */
async function insertClient(connection: Connection, client: Client): Promise<boolean> {
  const inserted = await connection.rows({
    text: `
      insert into bursar.client (id, customer_id, name, scopes, method, jwks, issuer, external_id, created_at, not_before, bound_to)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9::bigint, $10::bigint, $11) on conflict do nothing returning 1`,
    values: clientValues(client),
  })
  return inserted.length > 0
}

const insertSecret = (connection: Connection, clientId: string, secret: NewSecret) =>
  connection.rows({
    text: 'insert into bursar.client_secret (client_id, id, hash, created_at) values ($1, $2, $3, $4::bigint)',
    values: [clientId, secret.id, secret.hash, secret.createdAt],
  })

/** Keeps the newest `kept` secrets. */
const dropOlderSecrets = (connection: Connection, clientId: string, kept: number) =>
  connection.rows({
    text: `delete from bursar.client_secret where sequence in
      (select sequence from bursar.client_secret where client_id = $1 order by sequence desc offset $2::bigint)`,
    values: [clientId, kept],
  })

/** A secret that expires earlier keeps its time. */
const expireSecrets = (connection: Connection, clientId: string, at: bigint) =>
  connection.rows({
    text: `update bursar.client_secret set expires_at = least(coalesce(expires_at, $2::bigint), $2)
      where client_id = $1`,
    values: [clientId, at],
  })

/** False if the client does not exist. */
async function raiseNotBefore(connection: Connection, clientId: string, notBefore: bigint) {
  const raised = await connection.rows({
    text: 'update bursar.client set not_before = greatest(not_before, $2::bigint) where id = $1 returning 1',
    values: [clientId, notBefore],
  })
  return raised.length > 0
}
