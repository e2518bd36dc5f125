import { readFileSync } from 'node:fs'

/** One step of a schema. Ids rise from 1 without a gap; a step that has been released is never edited. */
export type Migration = { readonly id: number; readonly sql: string }

/** The numbered steps of a folder, in the order of `files`. */
export const readMigrations = (folder: URL, files: readonly string[]): readonly Migration[] =>
  files.map((file, at) => ({
    id: at + 1,
    sql: readFileSync(new URL(file, folder), 'utf8'),
  }))
