import type { DatabaseSync, StatementResultingChanges } from 'node:sqlite'
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
import { readMigrations } from '../sql/migration.ts'
import { whole } from '../sql/row.ts'
import { openRecovery, recoveryMethods } from './backup/recovery.ts'
import { prepareStatements, type Statements } from './credentials-statements.ts'
import { guarded, integrityFaults, openDatabase } from './database.ts'
import { inTransaction, migrate } from './migrate.ts'

const migrations = readMigrations(new URL('./migrations/credentials/', import.meta.url), [
  '0001-credentials.sql',
  '0002-changes.sql',
])

/** Credentials have their own database file, so that a long import never blocks a token. */
export function openSqliteCredentials(path: string): CredentialStore {
  const db = openDatabase(path)
  migrate(db, 'credentials', migrations)
  const statements = prepareStatements(db)
  const recovery = openRecovery(db)
  const run: Run = async (work) => guarded(work)
  const change: Run = async (work) =>
    guarded(() =>
      inTransaction(db, () => {
        // First, so that the changed rows carry the new revision.
        statements.bump.run()
        return work()
      }),
    )
  return {
    ...stateMethods(statements, run, recovery),
    ...recoveryMethods(db, recovery, run, change),
    ...clientMethods(db, statements, run, change),
    ...keyMethods(statements, run, change),
    ...tokenMethods(db, statements, run, change),
    // SQLite sends no notifications; the caller polls the revision, which is cheap.
    onChange: () => () => {},
    integrityFaults: async () => integrityFaults(db),
    close: async () => db.close(),
  }
}

/** Runs statements. A `change` runs them in one transaction that also bumps the revision. */
type Run = <T>(work: () => T) => Promise<T>

function stateMethods(statements: Statements, run: Run, recovery: () => Recovery | undefined) {
  const readRevision = () => whole(statements.revision.get() ?? {}, 'value')
  return {
    revision: () => run(readRevision),
    readStates: (now, since) =>
      run(() => {
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

function clientMethods(db: DatabaseSync, statements: Statements, run: Run, change: Run) {
  const addSecret = (clientId: string, secret: NewSecret) =>
    statements.addSecret.run(clientId, secret.id, secret.hash, secret.createdAt)
  return {
    findClient: (id) => run(() => readClientsWithSecrets(statements.findClient.all(id))[0]),
    listClients: () => run(() => readClientsWithSecrets(statements.listClients.all())),
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
      run(() =>
        inTransaction(db, () => {
          statements.useClient.run(at, clientId)
          if (secretId !== undefined) statements.useSecret.run(at, secretId)
        }),
      ),
  } satisfies Partial<CredentialStore>
}

function keyMethods(statements: Statements, run: Run, change: Run): PurposeKeyStore {
  return {
    readPurposeKeys: () => run(() => readPurposeKeys(statements.listKeys.all())),
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

function tokenMethods(db: DatabaseSync, statements: Statements, run: Run, change: Run) {
  return {
    denyToken: (jti, expiresAt, now) =>
      change(() => {
        statements.forgetDeniedTokens.run(now)
        statements.denyToken.run(jti, expiresAt)
      }),
    useAssertion: (clientId, jti, expiresAt, now) =>
      run(() =>
        inTransaction(db, () => {
          statements.forgetAssertions.run(now)
          return touched(statements.useAssertion.run(clientId, jti, expiresAt))
        }),
      ),
  } satisfies Partial<CredentialStore>
}
