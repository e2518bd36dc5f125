import { readFileSync } from 'node:fs'

/** One step of a schema. Ids rise from 1 without a gap; a released step is never edited. */
export type Migration = { readonly id: number; readonly sql: string }

export const numberMigrations = (steps: readonly string[]): readonly Migration[] =>
  steps.map((sql, at) => ({ id: at + 1, sql }))

export const readMigration = (file: URL): string => readFileSync(file, 'utf8')

/** The steps of a folder, in the order of `files`. */
export const readMigrations = (folder: URL, files: readonly string[]): readonly Migration[] =>
  numberMigrations(files.map((file) => readMigration(new URL(file, folder))))
