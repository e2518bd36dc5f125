import { hash } from 'node:crypto'
import { ConfigError } from '@bursar/base'
import { type RecordKind, type Resource, resourceOf, resources } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import {
  addImportLock,
  createAuditTables,
  createCredentialTables,
  createImportRegistry,
  createQuoteTables,
} from './credential-tables.ts'
import { endFilling, type Filling, fillHeld } from './fill-held.ts'
import { createMarks } from './mark-tables.ts'
import { addColumn, createKind, indexAllEvents, indexEvents } from './record-tables.ts'
import { createTermTable } from './record-terms.ts'
import { addSalts, createSharedTables } from './shared-tables.ts'

/** The embedded store has a file for each. On PostgreSQL both are one database. */
export type DatabaseName = 'records' | 'credentials'

/** One change of the schema. A database keeps the names of the steps that it has. */
export type Step = {
  readonly name: string
  readonly database: DatabaseName
  readonly sql: string
  /** Runs before the SQL, each batch in its own transaction, until there is no more to do. */
  readonly filling?: Filling | undefined
  /** Kept with the name, so that a later edit of the step is noticed. */
  readonly fingerprint: string
}

/**
 * A step of a release after 0.1.0: a kind of record, a filter column of a kind that was released
 * before, or other statements.
 */
export type LaterStep =
  | { readonly createKind: RecordKind }
  | { readonly addColumn: string; readonly kind: RecordKind }
  | (Pick<Step, 'name' | 'database'> & {
      /** `kinds` are those of 0.1.0. */
      readonly sql: (dialect: Dialect, kinds: readonly Resource[]) => string
      readonly filling?: (dialect: Dialect, kinds: readonly Resource[]) => Filling
    })

/** In the order of their releases. A released step is never edited. */
export const laterSteps: readonly LaterStep[] = [
  { name: 'events-by-type', database: 'records', sql: indexAllEvents },
  { name: 'client-marks', database: 'credentials', sql: createMarks },
  { name: 'salts', database: 'records', sql: addSalts },
  { name: 'import-locks', database: 'credentials', sql: addImportLock },
  { name: 'held', database: 'records', sql: endFilling, filling: fillHeld },
]

/**
 * What one engine adds: to the first step of each database, and in steps of a later release. These
 * are triggers, functions and policies.
 */
export type OwnStatements = Readonly<Record<DatabaseName, string>> & {
  readonly later?: readonly LaterStep[]
}

/**
 * Every step of the schema. The first step of each database creates the tables of 0.1.0, and so no
 * kind or column that a later step creates.
 */
export function schemaSteps(
  dialect: Dialect,
  own: OwnStatements,
  later: readonly LaterStep[] = laterSteps,
): readonly Step[] {
  const isLater = ({ kind }: Resource) =>
    later.some((step) => 'createKind' in step && step.createKind === kind)
  const laterColumnsOf = ({ kind }: Resource) =>
    later.flatMap((step) => ('addColumn' in step && step.kind === kind ? [step.addColumn] : []))
  const first = resources.filter((resource) => !isLater(resource))
  const create = (resource: Resource) => createKind(resource, laterColumnsOf(resource), dialect)
  const sqlOf = (step: LaterStep): Omit<Step, 'fingerprint'> => {
    if ('createKind' in step) {
      const { createKind: name } = step
      const kind = resourceOf(name)
      return { name, database: 'records', sql: `${create(kind)}${indexEvents(dialect, [kind])}` }
    }
    if ('addColumn' in step) {
      const resource = resourceOf(step.kind)
      const sql = addColumn(resource, step.addColumn, dialect)
      return { name: `${step.kind}.${step.addColumn}`, database: 'records', sql }
    }
    return { ...step, sql: step.sql(dialect, first), filling: step.filling?.(dialect, first) }
  }
  const records = [
    createSharedTables(dialect),
    createTermTable(dialect),
    ...first.map(create),
    own.records,
  ]
  const credentials = [
    createCredentialTables(dialect),
    createQuoteTables(dialect),
    createImportRegistry(dialect),
    createAuditTables(dialect),
    own.credentials,
  ]
  const steps: readonly Omit<Step, 'fingerprint'>[] = [
    { name: 'records', database: 'records', sql: records.join('\n') },
    { name: 'credentials', database: 'credentials', sql: credentials.join('\n') },
    ...[...later, ...(own.later ?? [])].map(sqlOf),
  ]
  return steps.map((step) => ({
    ...step,
    fingerprint: fingerprintOf(`${step.filling?.begin ?? ''} ${step.sql}`),
  }))
}

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
      `The database's schema has another form of the step ${name} than this version of Bursar. Undo the edit of that step and put the change into a new step, or run the version that applied it.`,
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
