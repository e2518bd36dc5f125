import type { StatementResultingChanges } from 'node:sqlite'
import type { PurposeKeyStore } from '../../vault/purpose-key.ts'
import type { CredentialStore, NewSecret } from '../credentials.ts'
import type { Recovery } from '../recovery.ts'
import {
  clientValues,
  keyValues,
  readClient,
  readClientsWithSecrets,
  readDeniedToken,
  readPurposeKeys,
} from '../sql/credential-rows.ts'
import { whole } from '../sql/row.ts'
import { readMigrations } from '../sql/schema/migration.ts'
import { openRecovery, recoveryMethods, recoveryMigrations } from './backup/recovery.ts'
import { prepareStatements, type Statements } from './credentials-statements.ts'
import { integrityFaults } from './database.ts'
import { openWrites, retryWhileLocked, type Write } from './locks.ts'
import { openMigrated } from './migrate.ts'

const migrations = readMigrations(new URL('./migrations/credentials/', import.meta.url), [
  '0001-credentials.sql',
  '0002-changes.sql',
  '0003-bound-clients.sql',
])

/** Credentials have their own database file, so that a long import never blocks a token. */
export function openSqliteCredentials(path: string, writeMs?: number): CredentialStore {
  const db = openMigrated(path, { credentials: migrations, recovery: recoveryMigrations })
  const statements = prepareStatements(db)
  const recovery = openRecovery(db)
  const read: Run = (work) => retryWhileLocked(work)
  const write = openWrites(db, writeMs)
  const change: Run = (work) =>
    write(() => {
      // First, so that the changed rows carry the new revision.
      statements.bump.run()
      return work()
    })
  return {
    ...stateMethods(statements, read, recovery),
    ...recoveryMethods(db, recovery, { read, change }),
    ...clientMethods(statements, { read, write, change }),
    ...keyMethods(statements, { read, change }),
    ...tokenMethods(statements, { write, change }),
    // SQLite sends no notifications; the caller polls the revision, which is cheap.
    onChange: () => () => {},
    integrityFaults: async () => integrityFaults(db),
    close: async () => db.close(),
  }
}

type Run = <T>(work: () => T) => Promise<T>

/** A `write` runs statements in one transaction. A `change` also bumps the revision in it. */
type Runs = { readonly read: Run; readonly write: Write; readonly change: Run }

function stateMethods(statements: Statements, read: Run, recovery: () => Recovery | undefined) {
  const readRevision = () => whole(statements.revision.get() ?? {}, 'value')
  return {
    revision: () => read(readRevision),
    readStates: (now, since) =>
      read(() => {
        // The revision is read first, so after a later change the next poll reads again.
        const revision = readRevision()
        // A file that was restored may be older than what the caller has seen.
        const isComplete = since === undefined || since > revision
        const after = isComplete ? -1n : since
        return {
          revision,
          isComplete,
          clients: statements.changedClients.all(after).map(readClient),
          deniedTokens: statements.deniedTokens.all(now, after).map(readDeniedToken),
          keysChanged: statements.changedKey.get(after) !== undefined,
          recovery: recovery(),
        }
      }),
  } satisfies Partial<CredentialStore>
}

// The count may be a bigint, and 0n === 0 is false; so this compares.
const touched = (result: StatementResultingChanges) => result.changes > 0

function clientMethods(statements: Statements, { read, write, change }: Runs) {
  const addSecret = (clientId: string, secret: NewSecret) =>
    statements.addSecret.run(clientId, secret.id, secret.hash, secret.createdAt)
  return {
    findClient: (id) => read(() => readClientsWithSecrets(statements.findClient.all(id))[0]),
    listClients: () => read(() => readClientsWithSecrets(statements.listClients.all())),
    addClient: (client, secret) =>
      change(() => {
        if (!touched(statements.addClient.run(...clientValues(client)))) return 'taken'
        if (secret !== undefined) addSecret(client.id, secret)
        return 'added'
      }),
    restoreClient: (client, secret) =>
      change(() => {
        statements.dropOlderSecrets.run(client.id, 0)
        statements.removeClient.run(client.id)
        statements.addClient.run(...clientValues(client))
        addSecret(client.id, secret)
      }),
    rotateSecret: (clientId, { secret, previousUntil, notBefore }) =>
      change(() => {
        if (!touched(statements.raiseNotBefore.run(notBefore ?? 0n, clientId))) return false
        statements.dropOlderSecrets.run(clientId, previousUntil === undefined ? 0 : 1)
        if (previousUntil !== undefined) statements.expireSecrets.run(previousUntil, clientId)
        addSecret(clientId, secret)
        return true
      }),
    disableClient: (clientId, at, notBefore) =>
      change(() => {
        statements.raiseNotBefore.run(notBefore, clientId)
        return touched(statements.disableClient.run(at, clientId))
      }),
    recordUse: (clientId, secretId, at) =>
      write(() => {
        statements.useClient.run(at, clientId)
        if (secretId !== undefined) statements.useSecret.run(at, secretId)
      }),
  } satisfies Partial<CredentialStore>
}

function keyMethods(
  statements: Statements,
  { read, change }: Omit<Runs, 'write'>,
): PurposeKeyStore {
  return {
    readPurposeKeys: () => read(() => readPurposeKeys(statements.listKeys.all())),
    addPurposeKey: (key, joining) =>
      change(() => {
        if (joining === 'if-none' && statements.hasKey.get(key.purpose) !== undefined) return false
        statements.addKey.run(...keyValues(key))
        if (joining === 'instead') {
          statements.revokeOtherKeys.run(key.createdAt, key.purpose, key.id)
        }
        return true
      }),
    rewrapPurposeKeys: (keys) =>
      change(() => {
        for (const key of keys) statements.rewrapKey.run(key.wrapped, key.masterId, key.id)
      }),
  }
}

function tokenMethods(statements: Statements, { write, change }: Omit<Runs, 'read'>) {
  return {
    denyToken: (jti, expiresAt, now) =>
      change(() => {
        statements.forgetDeniedTokens.run(now)
        statements.denyToken.run(jti, expiresAt)
      }),
    useAssertion: (clientId, jti, expiresAt, now) =>
      write(() => {
        statements.forgetAssertions.run(now)
        return touched(statements.useAssertion.run(clientId, jti, expiresAt))
      }),
  } satisfies Partial<CredentialStore>
}
