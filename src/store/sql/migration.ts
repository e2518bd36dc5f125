import { readFileSync } from 'node:fs'
import { ConfigError } from '../../platform/config.ts'

/** One step of a schema. Ids rise from 1 without a gap; a released step is never edited. */
export type Migration = { readonly id: number; readonly sql: string }

export const numberMigrations = (steps: readonly string[]): readonly Migration[] =>
  steps.map((sql, at) => ({ id: at + 1, sql }))

export const readMigration = (file: URL): string => readFileSync(file, 'utf8')

/** The steps of a folder, in the order of `files`. */
export const readMigrations = (folder: URL, files: readonly string[]): readonly Migration[] =>
  numberMigrations(files.map((file) => readMigration(new URL(file, folder))))

/** Throws a ConfigError if a later version of Bursar has migrated the schema. */
export function refuseLaterStep(schema: string, last: number, known: number): void {
  if (last <= known) return
  throw new ConfigError(
    `The database's ${schema} is at step ${last}, this version of Bursar knows steps up to ${known}. Run the version that wrote it, or a later one.`,
  )
}
