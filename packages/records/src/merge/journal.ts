import type { Dialect } from '../dialect.ts'
import type { JournalEntry } from '../records/import.ts'
import { optionalText, text, whole } from '../row.ts'
import type { Reads } from '../session.ts'

/**
 * What the operator writes. On PostgreSQL the server adds the role, which the operator cannot set.
 * The entry is part of the merge's transaction and has its time, so a version leads to its file.
 */
export const journalWritten =
  'imported_at, kind, file, sha256, os_user, sudo_user, records, added, changed, unchanged'

/** Adds the entry of a file. */
export async function writeJournal(
  { rows }: Reads,
  { tableName }: Dialect,
  entry: Omit<JournalEntry, 'role'>,
): Promise<void> {
  const { importedAt, kind, file, sha256, user, sudoUser = null } = entry
  const { records, added, changed, unchanged } = entry
  await rows({
    text: `insert into ${tableName('import_journal')} (${journalWritten})
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [importedAt, kind, file, sha256, user, sudoUser, records, added, changed, unchanged],
  })
}

/** The newest entries, newest first. */
export async function readJournal(
  { rows }: Reads,
  { tableName }: Dialect,
  entriesMax: number,
): Promise<readonly JournalEntry[]> {
  const found = await rows({
    text: `select ${journalWritten}, role from ${tableName('import_journal')}
      order by id desc limit ${entriesMax}`,
  })
  return found.map((row) => ({
    importedAt: whole(row, 'imported_at'),
    kind: text(row, 'kind'),
    file: text(row, 'file'),
    sha256: text(row, 'sha256'),
    user: text(row, 'os_user'),
    sudoUser: optionalText(row, 'sudo_user'),
    role: optionalText(row, 'role'),
    records: Number(whole(row, 'records')),
    added: Number(whole(row, 'added')),
    changed: Number(whole(row, 'changed')),
    unchanged: Number(whole(row, 'unchanged')),
  }))
}
