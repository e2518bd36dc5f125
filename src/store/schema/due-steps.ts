import { ConfigError } from '../../platform/config.ts'
import type { Dialect } from '../dialect.ts'
import type { Step } from './steps.ts'

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
