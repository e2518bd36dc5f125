import { ConfigError } from '../../../platform/config.ts'
import { limits } from '../../../platform/limits.ts'
import type { ServerAddress } from '../../../platform/postgres-url.ts'
import { commandHint } from '../../../platform/version.ts'
import {
  type AppliedStep,
  lastOf,
  numberMigrations,
  readMigration,
  refuseEditedStep,
  refuseLaterStep,
} from '../../sql/schema/migration.ts'
import { recordMigration } from '../../sql/schema/record-migrations.ts'
import { transact } from '../cluster/transaction.ts'
import { withPrimary } from '../cluster/with-primary.ts'
import { dialect } from '../dialect.ts'
import type { Connection } from '../driver/connection.ts'
import { type SessionSettings, setLocal } from '../driver/sessions.ts'
import { checksumFillStep, fillChecksums } from './fill-checksums.ts'
import { grantStatements, type Roles } from './grants.ts'
import { setRoles } from './role-settings.ts'

const sqlFile = (name: string): string =>
  readMigration(new URL(`./migrations/${name}`, import.meta.url))

/** Every step of the schema, in the order of their releases. */
export const migrations = numberMigrations([
  [
    recordMigration(1, dialect),
    sqlFile('0001-records.sql'),
    dialect.protect('superseded'),
    dialect.protect('revision'),
  ].join('\n'),
  sqlFile('0002-credentials.sql'),
  sqlFile('0003-fee-quotes.sql'),
  sqlFile('0004-credential-changes.sql'),
  recordMigration(2, dialect),
  sqlFile('0005-clock-of-fee-quotes.sql'),
  sqlFile('0007-import-journal.sql'),
  sqlFile('0008-recovery.sql'),
  recordMigration(3, dialect),
  checksumFillStep,
  recordMigration(4, dialect),
  sqlFile('0009-bound-clients.sql'),
  sqlFile('0010-withdrawals.sql'),
])

/** An arbitrary key, unlikely to be the advisory lock of another program. */
const MIGRATION_LOCK = '4725690212845'

/**
 * Brings the schema up to date as its owner, one transaction a step, grants the roles their rights,
 * and fills missing checksums. Returns the ids of the steps that it applied. One process at a time
 * runs a step. `settings` become those of the roles, because a pooler keeps none of a session.
 */
export async function migratePostgres(
  addresses: readonly ServerAddress[],
  roles: Roles,
  settings?: SessionSettings,
): Promise<readonly number[]> {
  return await withPrimary(addresses, async (owner) => {
    await requireRoles(owner, roles)
    await inTurn(owner, async () => {
      await owner.execute(`
        create schema if not exists bursar;
        create table if not exists bursar.schema_migration (id integer primary key, applied_at timestamptz not null);
        alter table bursar.schema_migration add column if not exists fingerprint text`)
      await lastApplied(owner)
      await owner.execute(markSteps)
    })
    const applied: number[] = []
    for (const { id, sql, fingerprint } of migrations) {
      await inTurn(owner, async () => {
        // Another process may have applied the step by now.
        if ((await lastApplied(owner)) >= id) return
        await owner.execute(
          `${sql}; insert into bursar.schema_migration values (${id}, now(), '${fingerprint}')`,
        )
        applied.push(id)
      })
    }
    await inTurn(owner, () => owner.execute(grantStatements(roles)))
    await fillChecksums(owner)
    if (settings !== undefined) await setRoles(owner, roles, settings)
    return applied
  })
}

/** Runs a step in a transaction of its own, after the step that another process runs. */
const inTurn = (owner: Connection, step: () => Promise<void>): Promise<void> =>
  transact(owner, async () => {
    // A waiting ALTER TABLE blocks every reader behind it, so it gives up after 5 s.
    const deadlines = { lock_timeout: 5000, statement_timeout: limits.migrationStatementMs }
    await owner.execute(`
      set local client_connection_check_interval = ${limits.databaseClientCheckMs};
      select pg_advisory_xact_lock(${MIGRATION_LOCK}); ${setLocal(deadlines)}`)
    await step()
  })

/** The number of the last step that was applied. Throws a ConfigError if the steps are others. */
async function lastApplied(owner: Connection): Promise<number> {
  const applied = (await appliedSteps(owner)) ?? []
  const last = lastOf(applied)
  refuseLaterStep('schema', last, migrations.length)
  refuseEditedStep('schema', applied, migrations)
  return last
}

/** Marks the steps that a version without fingerprints applied. */
const markSteps = migrations
  .map(
    ({ id, fingerprint }) =>
      `update bursar.schema_migration set fingerprint = '${fingerprint}' where id = ${id} and fingerprint is null`,
  )
  .join(';\n')

/** Throws a ConfigError unless the schema is at the step that this version needs, unedited. */
export async function requireSchema(connection: Connection): Promise<void> {
  const last = await lastApplied(connection)
  const known = migrations.length
  if (last === known) return
  const where = last === 0 ? 'has no Bursar schema' : `is at step ${last} of ${known}`
  throw new ConfigError(
    `The database ${where}. Run ${commandHint('migrate')} with the URL of the database's owner, then start again.`,
  )
}

/** The steps that were applied. Undefined where there is no schema yet. */
async function appliedSteps(connection: Connection): Promise<readonly AppliedStep[] | undefined> {
  const [found] = await connection.query({ text: `select to_regclass('bursar.schema_migration')` })
  if (found?.[0] == null) return undefined
  // As a member of the row's JSON, the fingerprint may be missing: an older version migrated then.
  const rows = await connection.query({
    text: `select id, to_jsonb(step) ->> 'fingerprint' from bursar.schema_migration as step order by id`,
  })
  return rows.map(([id, fingerprint]) => ({
    id: Number(id),
    fingerprint: fingerprint == null ? undefined : String(fingerprint),
  }))
}

async function requireRoles(owner: Connection, { app, operator }: Roles): Promise<void> {
  for (const role of [app, operator]) {
    const text = 'select 1 from pg_roles where rolname = $1'
    const found = await owner.query({ text, values: [role] })
    if (found.length > 0) continue
    throw new ConfigError(
      `The database has no role ${role}. Make it (create role ${role} login password '…'), or name another with --app-role and --operator-role.`,
    )
  }
}
