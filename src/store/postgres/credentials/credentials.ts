import type { PurposeKeyStore, WrappedKey } from '../../../vault/purpose-key.ts'
import type { CredentialStore } from '../../credentials.ts'
import {
  clientColumns,
  keyColumns,
  keyValues,
  readClient,
  readDeniedToken,
  readPurposeKeys,
} from '../../sql/credential-rows.ts'
import { listen } from '../cluster/listen.ts'
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'
import { storable } from '../driver/cells.ts'
import type { Connection } from '../driver/connection.ts'
import {
  CHANGED,
  type CredentialChanges,
  numberSince,
  openCredentialChanges,
} from './credential-changes.ts'
import { clientMethods } from './credentials-clients.ts'
import { findRecovery, recoveryMethods } from './recovery.ts'

/**
 * Stores credentials in PostgreSQL. The caller closes the servers. Only the refresh of states and
 * keys may read a standby, so every process sees a change of a client at once.
 */
export function openPostgresCredentials(servers: Servers): CredentialStore {
  const changes = openCredentialChanges(servers)
  const listening = new Set<() => void>()
  return {
    ...stateMethods(changes),
    ...recoveryMethods(changes),
    ...clientMethods(servers, changes),
    ...keyMethods(changes),
    ...tokenMethods(servers, changes),
    onChange: (run) => {
      // LISTEN is of a session, which no pooler keeps. The callers poll too.
      if (servers.pooler === 'transaction') return () => {}
      const stop = listen(servers, CHANGED, run)
      listening.add(stop)
      return () => {
        listening.delete(stop)
        stop()
      }
    },
    // Constraints prevent other faults. PostgreSQL verifies its pages itself (data checksums).
    integrityFaults: async () => [],
    close: async () => {
      for (const stop of listening) stop()
      listening.clear()
    },
  }
}

function stateMethods({ read }: CredentialChanges) {
  return {
    revision: () => read(async (_, revision) => revision),
    readStates: (now, since) =>
      // The revision was read first, so after a later change the next refresh reads again.
      read(async (connection, revision) => {
        const changedAfter = numberSince(since, revision)
        const after = changedAfter ?? -1n
        const clients = await connection.rows({
          text: `select ${clientColumns} from bursar.client where revision > $1::bigint
            order by created_at, id`,
          values: [after],
          prepare: true,
        })
        const denied = await connection.rows({
          text: `select jti, max(expires_at) as expires_at from bursar.denied_token
            where expires_at > $1::bigint and revision > $2::bigint group by jti`,
          values: [now, after],
          prepare: true,
        })
        const keys = await connection.rows({
          text: 'select 1 from bursar.purpose_key where revision > $1::bigint limit 1',
          values: [after],
          prepare: true,
        })
        return {
          revision,
          isComplete: changedAfter === undefined,
          clients: clients.map(readClient),
          deniedTokens: denied.map(readDeniedToken),
          keysChanged: keys.length > 0,
          recovery: await findRecovery(connection),
        }
      }),
  } satisfies Partial<CredentialStore>
}

function keyMethods({ read, change }: CredentialChanges): PurposeKeyStore {
  return {
    readPurposeKeys: () =>
      read(async (connection) => {
        const text = `select ${keyColumns} from bursar.purpose_key order by sequence`
        return readPurposeKeys(await connection.rows({ text }))
      }),
    addPurposeKey: (key, joining) =>
      change(async (connection) => {
        if (joining === 'if-none' && (await hasKey(connection, key))) return false
        await insertKey(connection, key)
        if (joining === 'instead') await revokeOthers(connection, key)
        return true
      }),
    rewrapPurposeKeys: (keys) =>
      change(async (connection) => {
        for (const { id, wrapped, masterId } of keys) {
          await connection.rows({
            text: 'update bursar.purpose_key set wrapped = $2, master_id = $3 where id = $1',
            values: [id, wrapped, masterId],
          })
        }
      }),
  }
}

async function hasKey(connection: Connection, { purpose }: WrappedKey): Promise<boolean> {
  const found = await connection.rows({
    text: 'select 1 from bursar.purpose_key where purpose = $1 limit 1',
    values: [purpose],
  })
  return found.length > 0
}

const insertKey = (connection: Connection, key: WrappedKey) =>
  connection.rows({
    text: `insert into bursar.purpose_key (${keyColumns})
      values ($1, $2, $3, $4, $5::bigint, $6::bigint, $7::bigint)`,
    values: keyValues(key),
  })

const revokeOthers = (connection: Connection, key: WrappedKey) =>
  connection.rows({
    text: `update bursar.purpose_key set revoked_at = $1::bigint
      where purpose = $2 and id <> $3 and revoked_at is null`,
    values: [key.createdAt, key.purpose, key.id],
  })

function tokenMethods(servers: Servers, { change }: CredentialChanges) {
  const forget = (connection: Connection, table: string, now: bigint) =>
    connection.rows({
      text: `delete from bursar.${table} where expires_at <= $1::bigint`,
      values: [now],
    })
  return {
    denyToken: (jti, expiresAt, now) =>
      change(async (connection) => {
        await forget(connection, 'denied_token', now)
        await connection.rows({
          text: 'insert into bursar.denied_token values ($1, $2::bigint) on conflict do nothing',
          values: [jti, expiresAt],
        })
      }),
    useAssertion: (clientId, jti, expiresAt, now) =>
      inTransaction(servers, async (connection) => {
        await forget(connection, 'used_assertion', now)
        const inserted = await connection.rows({
          text: `insert into bursar.used_assertion values ($1, $2, $3::bigint)
            on conflict do nothing returning 1`,
          values: [clientId, storable(jti), expiresAt],
        })
        return inserted.length > 0
      }),
  } satisfies Partial<CredentialStore>
}
