import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ConfigError } from '../../../platform/config.ts'

/** One step of a schema. Ids rise from 1 without a gap; a released step is never edited. */
export type Migration = {
  readonly id: number
  readonly sql: string
  /** Stored with the step when it is applied, so that a later edit of the step is noticed. */
  readonly fingerprint: string
}

/** A step that a database has. A version without fingerprints applied it if it has none. */
export type AppliedStep = { readonly id: number; readonly fingerprint: string | undefined }

export const numberMigrations = (steps: readonly string[]): readonly Migration[] =>
  steps.map((sql, at) => ({ id: at + 1, sql, fingerprint: fingerprintOf(sql) }))

export const readMigration = (file: URL): string => readFileSync(file, 'utf8')

/** The steps of a folder, in the order of `files`. */
export const readMigrations = (folder: URL, files: readonly string[]): readonly Migration[] =>
  numberMigrations(files.map((file) => readMigration(new URL(file, folder))))

/** Comments and white space may be edited: they do not change what a step does. */
const fingerprintOf = (sql: string): string =>
  hash('sha256', sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim())

/** The last of the steps; 0 if there is none. */
export const lastOf = (steps: readonly AppliedStep[]): number =>
  Math.max(0, ...steps.map(({ id }) => id))

/** Throws a ConfigError if a later version of Bursar has migrated the schema. */
export function refuseLaterStep(schema: string, last: number, known: number): void {
  if (last <= known) return
  throw new ConfigError(
    `The database's ${schema} is at step ${last}, this version of Bursar knows steps up to ${known}. Run the version that wrote it, or a later one.`,
  )
}

/**
 * Throws a ConfigError if a step was applied in another form than this version has. The tables then
 * differ from what the statements of this version expect.
 */
export function refuseEditedStep(
  schema: string,
  applied: readonly AppliedStep[],
  migrations: readonly Migration[],
): void {
  for (const { id, fingerprint } of applied) {
    const known = migrations.find((migration) => migration.id === id)?.fingerprint
    if (fingerprint === undefined || known === undefined || fingerprint === known) continue
    throw new ConfigError(
      `The database's ${schema} has another form of step ${id} than this version of Bursar. Undo the edit of that step and put the change into a new step, or run the version that applied it.`,
    )
  }
}
