import { ConfigError } from '../../../platform/config.ts'
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
import type { Connection } from '../driver/connection.ts'
import { checksumFillStep, fillChecksums } from './fill-checksums.ts'
import { grantStatements, type Roles } from './grants.ts'
import { protect, recordDialect } from './record-dialect.ts'

const sqlFile = (name: string): string =>
  readMigration(new URL(`./migrations/${name}`, import.meta.url))

/** Every step of the schema, in the order of their releases. */
export const migrations = numberMigrations([
  [
    recordMigration(1, recordDialect),
    sqlFile('0001-records.sql'),
    protect('superseded'),
    protect('revision'),
  ].join('\n'),
  sqlFile('0002-credentials.sql'),
  sqlFile('0003-fee-quotes.sql'),
  sqlFile('0004-credential-changes.sql'),
  recordMigration(2, recordDialect),
  sqlFile('0005-clock-of-fee-quotes.sql'),
  sqlFile('0007-import-journal.sql'),
  sqlFile('0008-recovery.sql'),
  recordMigration(3, recordDialect),
  checksumFillStep,
  recordMigration(4, recordDialect),
  sqlFile('0009-bound-clients.sql'),
  sqlFile('0010-withdrawals.sql'),
])

/** An arbitrary key, unlikely to be the advisory lock of another program. */
const MIGRATION_LOCK = '4725690212845'

/**
 * Brings the schema up to date as its owner, one transaction a step, grants the roles their rights,
 * and fills missing checksums. Returns the ids of the applied steps. Only one process migrates at a
 * time.
 */
export async function migratePostgres(
  addresses: readonly ServerAddress[],
  roles: Roles,
): Promise<readonly number[]> {
  return await withPrimary(addresses, async (owner) => {
    await owner.execute(`select pg_advisory_lock(${MIGRATION_LOCK})`)
    // A waiting ALTER TABLE blocks every reader behind it, so it gives up after 5 s.
    await owner.execute(`set lock_timeout = '5s'; set client_min_messages = warning`)
    await requireRoles(owner, roles)
    await owner.execute(`
      create schema if not exists bursar;
      create table if not exists bursar.schema_migration (id integer primary key, applied_at timestamptz not null);
      alter table bursar.schema_migration add column if not exists fingerprint text`)
    const applied = (await appliedSteps(owner)) ?? []
    const last = lastOf(applied)
    refuseLaterStep('schema', last, migrations.length)
    refuseEditedStep('schema', applied, migrations)
    await owner.execute(markSteps)
    const due = migrations.filter(({ id }) => id > last)
    for (const { id, sql, fingerprint } of due) {
      await transact(owner, () =>
        owner.execute(
          `${sql}; insert into bursar.schema_migration values (${id}, now(), '${fingerprint}')`,
        ),
      )
    }
    await transact(owner, () => owner.execute(grantStatements(roles)))
    await fillChecksums(owner)
    return due.map(({ id }) => id)
  })
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
  const applied = await appliedSteps(connection)
  const last = lastOf(applied ?? [])
  const known = migrations.length
  refuseLaterStep('schema', last, known)
  refuseEditedStep('schema', applied ?? [], migrations)
  if (last === known) return
  const where = applied === undefined ? 'has no Bursar schema' : `is at step ${last} of ${known}`
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
