import { readFileSync } from 'node:fs'
import { ConfigError, commandHint, limitsOf, type ServerAddress, systemTime } from '@bursar/base'
import {
  type AppliedAt,
  type AppliedStep,
  applyStep,
  createStepTable,
  dueSteps,
  type OwnStatements,
  type Step,
  schemaSteps,
} from '@bursar/records'
import { transact } from '../cluster/transaction.ts'
import { withPrimary } from '../cluster/with-primary.ts'
import { dialect } from '../dialect.ts'
import type { Connection } from '../driver/connection.ts'
import { fixedSettings, pinnedSettings } from '../driver/required-settings.ts'
import { type SessionSettings, setLocal } from '../driver/sessions.ts'
import { postgresLimits } from '../limits.ts'
import { grantStatements, type Roles } from './grants.ts'
import { grantDatabase, setRoles } from './prepare-roles.ts'
import { requireSettings } from './session-settings.ts'

const limits = limitsOf({
  /** A statement of a migration: to fill a new column of 100 million records takes hours. */
  migrationStatementMs: 21_600_000,
})

const sqlFile = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** Functions, triggers and policies that only PostgreSQL has. */
export const ownStatements: OwnStatements = {
  records: sqlFile('./records.sql'),
  credentials: ['./credentials.sql', './audit-append.sql', './fee-quotes.sql']
    .map(sqlFile)
    .join('\n'),
}

export const allSteps = schemaSteps(dialect, ownStatements)

/** An arbitrary key, unlikely to be the advisory lock of another program. */
const MIGRATION_LOCK = '4725690212845'

type MigrateOptions = {
  /** Become those of the roles, because a pooler keeps none of a session. */
  readonly settings?: SessionSettings | undefined
  readonly steps?: readonly Step[]
}

/**
 * Brings the schema up to date as its owner, one transaction a step, and grants the roles their
 * rights. Returns the names of the steps that it applied. One process at a time runs a step.
 */
export async function migratePostgres(
  addresses: readonly ServerAddress[],
  roles: Roles,
  { settings, steps = allSteps }: MigrateOptions = {},
): Promise<readonly string[]> {
  return await withPrimary(addresses, async (owner) => {
    await requireSettings(owner, fixedSettings)
    await requireRoles(owner, roles)
    await grantDatabase(owner, roles)
    const applied: string[] = []
    for (let isDone = false; !isDone; ) {
      await inTurn(owner, async () => {
        // Another process may have applied a step by now.
        const [step] = dueSteps(steps, await appliedTo(owner))
        isDone = step === undefined
        if (step === undefined) return
        await owner.execute(`create schema if not exists bursar; ${createStepTable(dialect)}`)
        await owner.execute(applyStep(step, dialect, systemTime.now()))
        applied.push(step.name)
      })
    }
    await inTurn(owner, async () => {
      await owner.execute(grantStatements(roles, await presentTables(owner)))
    })
    if (settings !== undefined) await setRoles(owner, roles, { ...pinnedSettings, ...settings })
    return applied
  })
}

/** The tables that the applied steps have created. */
async function presentTables(owner: Connection): Promise<readonly string[]> {
  const text = `select relname from pg_class where relnamespace = 'bursar'::regnamespace`
  return (await owner.query({ text })).map(([name]) => String(name))
}

/** Runs a step in a separate transaction, after the step that another process runs. */
const inTurn = (owner: Connection, step: () => Promise<void>): Promise<void> =>
  transact(
    owner,
    step,
    `set local client_connection_check_interval = ${postgresLimits.databaseClientCheckMs};
     select pg_advisory_xact_lock(${MIGRATION_LOCK}); ${setLocal(deadlines)}`,
  )

/** A waiting ALTER TABLE blocks every reader behind it, so it gives up after 5 s. */
const deadlines = { lock_timeout: 5000, statement_timeout: limits.migrationStatementMs }

/** Throws a ConfigError unless the schema has the steps that this version needs, unedited. */
export async function requireSchema(connection: Connection): Promise<void> {
  const applied = await appliedTo(connection)
  const due = dueSteps(allSteps, applied).map(({ name }) => name)
  if (due.length === 0) return
  const what =
    applied.length === 0
      ? 'has no Bursar schema'
      : `lacks steps of the Bursar schema (${due.join(', ')})`
  throw new ConfigError(
    `The database ${what}. Run ${commandHint('migrate')} with the URL of the database's owner, then start again.`,
  )
}

/** The steps that were applied. None where there is no schema yet. */
export async function appliedTo(
  connection: Connection,
): Promise<readonly (AppliedStep & AppliedAt)[]> {
  const [found] = await connection.query({ text: `select to_regclass('bursar.schema_migration')` })
  if (found?.[0] == null) return []
  const text = 'select name, fingerprint, applied_at from bursar.schema_migration'
  const rows = await connection.query({ text })
  return rows.map(([name, fingerprint, at]) => ({
    name: String(name),
    fingerprint: String(fingerprint),
    at: BigInt(String(at)),
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
