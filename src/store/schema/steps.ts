import { hash } from 'node:crypto'
import type { Resource } from '../../contract/resource.ts'
import { type RecordKind, resourceOf, resources } from '../../resources/catalogue.ts'
import type { Dialect } from '../dialect.ts'
import { createCredentialTables } from './credential-tables.ts'
import { createQuoteTables } from './quote-tables.ts'
import { addColumn, createKind } from './record-tables.ts'
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

/**
 * A step of a release after 0.1.0: a kind of record, a filter column of a kind that was released
 * before, or other statements.
 */
export type LaterStep =
  | { readonly createKind: RecordKind }
  | { readonly addColumn: string; readonly kind: RecordKind }
  | (Pick<Step, 'name' | 'database'> & { readonly sql: (dialect: Dialect) => string })

/** In the order of their releases. A released step is never edited. */
const laterSteps: readonly LaterStep[] = []

/** What one engine adds to the first step of each database: triggers, functions and policies. */
export type OwnStatements = Readonly<Record<DatabaseName, string>>

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
  const create = (resource: Resource) => createKind(resource, laterColumnsOf(resource), dialect)
  const sqlOf = (step: LaterStep): Omit<Step, 'fingerprint'> => {
    if ('createKind' in step) {
      const { createKind: name } = step
      return { name, database: 'records', sql: create(resourceOf(name)) }
    }
    if ('addColumn' in step) {
      const resource = resourceOf(step.kind)
      const sql = addColumn(resource, step.addColumn, dialect)
      return { name: `${step.kind}.${step.addColumn}`, database: 'records', sql }
    }
    return { ...step, sql: step.sql(dialect) }
  }
  const first = resources.filter((resource) => !isLater(resource)).map(create)
  const records = [createSharedTables(dialect), ...first, own.records]
  const credentials = [createCredentialTables(dialect), createQuoteTables(dialect), own.credentials]
  const steps = [
    { name: 'records', database: 'records', sql: records.join('\n') },
    { name: 'credentials', database: 'credentials', sql: credentials.join('\n') },
    ...later.map(sqlOf),
  ] as const
  return steps.map((step) => ({ ...step, fingerprint: fingerprintOf(step.sql) }))
}

/** Comments and white space may be edited: they do not change what a step does. */
const fingerprintOf = (sql: string): string =>
  hash('sha256', sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim())
