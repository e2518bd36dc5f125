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
  text,
} from '@bursar/records'
import { transact } from '../cluster/transaction.ts'
import { withPrimary } from '../cluster/with-primary.ts'
import { dialect } from '../dialect.ts'
import type { Connection } from '../driver/connection.ts'
import { fixedSettings, pinnedSettings } from '../driver/required-settings.ts'
import { type SessionSettings, setLocal } from '../driver/sessions.ts'
import { postgresLimits } from '../limits.ts'
import { grantStatements, type Roles } from './grants.ts'
import {
  differences,
  keepDigests,
  linesOf,
  type Objects,
  readAnew,
  readObjects,
  refuseLeft,
  replaceObjects,
  withoutOthersRights,
} from './made-objects.ts'
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

const allSteps = schemaSteps(dialect, ownStatements)

/** An arbitrary key, unlikely to be the advisory lock of another program. */
const MIGRATION_LOCK = '4725690212845'

type MigrateOptions = {
  /** Become those of the roles, because a pooler keeps none of a session. */
  readonly settings?: SessionSettings | undefined
  readonly steps?: readonly Step[]
  /** Whether objects and rights that differ from what this program makes are replaced. */
  readonly replaces?: boolean
}

/**
 * Brings the schema up to date as its owner, in one transaction, and grants the roles their rights.
 * Returns the names of the steps that it applied. One process at a time does so. Throws a
 * ConfigError with everything that somebody has changed since, unless that is to be replaced.
 */
export async function migratePostgres(
  addresses: readonly ServerAddress[],
  roles: Roles,
  { settings, steps = allSteps, replaces = false }: MigrateOptions = {},
): Promise<readonly string[]> {
  return await withPrimary(addresses, async (owner) => {
    await requireSettings(owner, fixedSettings)
    await requireRoles(owner, roles)
    await grantDatabase(owner, roles)
    let applied: readonly Step[] = []
    await inTurn(owner, async () => {
      const before = await appliedTo(owner)
      applied = dueSteps(steps, before)
      const made =
        before.length === 0
          ? await makeFirst(owner, roles, steps)
          : await makeDue(owner, roles, applied, { steps, replaces })
      await keepDigests(owner, made)
    })
    if (settings !== undefined) await setRoles(owner, roles, { ...pinnedSettings, ...settings })
    return applied.map(({ name }) => name)
  })
}

/** Applies steps, and grants the roles their rights to what is there then. */
async function make(owner: Connection, roles: Roles, steps: readonly Step[]): Promise<void> {
  if (steps.length > 0) {
    await owner.execute(`create schema if not exists bursar; ${createStepTable(dialect)}`)
    for (const step of steps) await owner.execute(applyStep(step, dialect, systemTime.now()))
  }
  await owner.execute(grantStatements(roles, await presentTables(owner)))
}

/** Makes everything, where nothing was. What default privileges of a host add is taken back. */
async function makeFirst(owner: Connection, roles: Roles, steps: readonly Step[]) {
  await requireNoObjects(owner)
  await make(owner, roles, steps)
  const found = await readObjects(owner)
  const made = withoutOthersRights(found, roles)
  await replaceObjects(owner, found, made)
  return made
}

/** Compares what is there with the same objects, made anew, and then applies what is due. */
async function makeDue(
  owner: Connection,
  roles: Roles,
  due: readonly Step[],
  { steps, replaces }: Required<Pick<MigrateOptions, 'steps' | 'replaces'>>,
): Promise<Objects> {
  const readMade = async (all: readonly Step[]) =>
    withoutOthersRights(await readAnew(owner, () => make(owner, roles, all)), roles)
  const made = await readMade(steps.filter((step) => !due.includes(step)))
  await requireMade(owner, roles, made, replaces)
  if (due.length === 0) return made
  await make(owner, roles, due)
  return await readMade(steps)
}

async function requireMade(
  owner: Connection,
  roles: Roles,
  made: Objects,
  replaces: boolean,
): Promise<void> {
  const differ = differences(await readObjects(owner), made)
  if (differ.length === 0) return
  if (replaces) return await replaceAll(owner, roles, made)
  throw new ConfigError(
    `The schema differs from the one that this program makes. Find out who has changed it; ${commandHint('migrate --yes')} replaces what it can. Nothing was changed:\n${linesOf(differ)}`,
  )
}

/** A function that is made again has rights that its step revokes, so it takes two passes. */
async function replaceAll(owner: Connection, roles: Roles, made: Objects): Promise<void> {
  for (let pass = 0; pass < 2; pass += 1) {
    await replaceObjects(owner, await readObjects(owner), made)
    await make(owner, roles, [])
  }
  refuseLeft(differences(await readObjects(owner), made))
}

/** What was there before would be taken for what the program has made. */
async function requireNoObjects(owner: Connection): Promise<void> {
  const [row = {}] = await owner.rows({ text: 'select quote_ident(current_user) as name' })
  const isOwn = `of ${text(row, 'name')}`
  const others = [...(await readObjects(owner))]
    .filter(([name, { form }]) => name !== 'schema bursar' || form !== isOwn)
    .map(([name]) => name)
  if (others.length === 0) return
  throw new ConfigError(
    `The database has objects in the schemas of this program, which it has not made (${others.slice(0, 10).join(', ')}). Drop or rename them, then run ${commandHint('migrate')} again.`,
  )
}

/** The tables that the applied steps have created. */
async function presentTables(owner: Connection): Promise<readonly string[]> {
  const text = `select relname from pg_class where relnamespace = 'bursar'::regnamespace`
  return (await owner.query({ text })).map(([name]) => String(name))
}

/** Runs work in a transaction, after that of another process. */
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
