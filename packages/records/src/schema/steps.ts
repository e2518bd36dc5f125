import { hash } from 'node:crypto'
import { ConfigError } from '@bursar/base'
import { resources } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import {
  createAuditTables,
  createCredentialTables,
  createQuoteTables,
} from './credential-tables.ts'
import { createHeldTable } from './held-values.ts'
import { createMarks } from './mark-tables.ts'
import { createKind } from './record-tables.ts'
import { createTermTable } from './record-terms.ts'
import { createSharedTables } from './shared-tables.ts'

/** The embedded store has a file for each. On PostgreSQL both are one database. */
export type DatabaseName = 'records' | 'credentials'

/** One change of the schema. A database keeps the names of the steps that it has. */
export type Step = {
  readonly name: string
  readonly database: DatabaseName
  readonly sql: string
  /** Kept with the name, so that a later edit of the step is noticed. */
  readonly fingerprint: string
}

/** The triggers, functions and policies that one engine adds to the step of each database. */
export type OwnStatements = Readonly<Record<DatabaseName, string>>

/** Every step of the schema, in the order in which they are applied: one creates each database. */
export function schemaSteps(dialect: Dialect, own: OwnStatements): readonly Step[] {
  const records = [
    createSharedTables(dialect),
    createHeldTable(dialect),
    createTermTable(dialect),
    ...resources.map((resource) => createKind(resource, dialect)),
    own.records,
  ]
  const credentials = [
    createCredentialTables(dialect),
    createQuoteTables(dialect),
    createAuditTables(dialect),
    createMarks(dialect),
    own.credentials,
  ]
  return [
    stepOf('records', 'records', records.join('\n')),
    stepOf('credentials', 'credentials', credentials.join('\n')),
  ]
}

/** A step with its fingerprint. */
export const stepOf = (name: string, database: DatabaseName, sql: string): Step => ({
  name,
  database,
  sql,
  fingerprint: fingerprintOf(sql),
})

/** Comments and white space may be edited: they do not change what a step does. */
const fingerprintOf = (sql: string): string =>
  hash('sha256', sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim())

/** A step that a database has. */
export type AppliedStep = Pick<Step, 'name' | 'fingerprint'>

/**
 * The steps that a database lacks. Throws a ConfigError if a later version of Bursar has migrated
 * it, or if it has another form of a step: its tables then differ from what the statements of this
 * version expect.
 */
export function dueSteps(steps: readonly Step[], applied: readonly AppliedStep[]): readonly Step[] {
  const known = new Map(steps.map(({ name, fingerprint }) => [name, fingerprint]))
  for (const { name, fingerprint } of applied) {
    if (!known.has(name)) {
      throw new ConfigError(
        `The database's schema has the step ${name}, which this version of Bursar does not know. Run the version that wrote it, or a later one.`,
      )
    }
    if (known.get(name) === fingerprint) continue
    throw new ConfigError(
      `The database's schema has another form of the step ${name} than this version of Bursar. Run the version that made the store, or export its records with that version and import them into a new store.`,
    )
  }
  const names = new Set(applied.map(({ name }) => name))
  return steps.filter(({ name }) => !names.has(name))
}

/** Creates the table of the steps that a database has. */
export const createStepTable = ({ tableName, types, tableOptions }: Dialect): string => `
create table if not exists ${tableName('schema_migration')} (
  name ${types.key} primary key,
  applied_at ${types.integer} not null,
  fingerprint text not null
)${tableOptions}`

/** A step with the statement that notes it. Both belong into one transaction. */
export const applyStep = (
  { name, sql, fingerprint }: Step,
  { tableName }: Dialect,
  now: bigint,
): string =>
  `${sql};\ninsert into ${tableName('schema_migration')} values ('${name}', ${now}, '${fingerprint}')`
