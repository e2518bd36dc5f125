import type { Dialect } from '../dialect.ts'
import type { ImportOrigin, JournalEntry } from '../records/import.ts'
import { type NamedRow, optionalText, text, whole } from '../row.ts'
import type { Session } from '../session.ts'
import type { FileCounts } from './file-counts.ts'

/**
 * What the operator writes. On PostgreSQL the server adds the role, which the operator cannot set.
 * The entry is part of the merge's transaction and has its time, so a version leads to its file.
 */
const written = [
  'imported_at',
  'kind',
  'file',
  'sha256',
  'os_user',
  'sudo_user',
  'records',
  'added',
  'changed',
  'unchanged',
] as const

export const journalWritten: string = written.join(', ')

/** Adds the entry of a file. */
export async function writeJournal(
  { rows }: Session,
  { tableName }: Dialect,
  { kind, storedAt, origin, counts }: Written,
): Promise<void> {
  const { file, sha256, user, sudoUser } = origin
  const { records, added, changed } = counts
  await rows({
    text: `insert into ${tableName('import_journal')} (${journalWritten})
      values (${written.map((_column, at) => `$${at + 1}`).join(', ')})`,
    values: [
      storedAt,
      kind,
      file,
      sha256,
      user,
      sudoUser ?? null,
      // Repeats within the file count as unchanged, as in the report.
      records,
      added,
      changed,
      records - added - changed,
    ],
  })
}

type Written = {
  readonly kind: string
  readonly storedAt: bigint
  readonly origin: ImportOrigin
  readonly counts: FileCounts
}

/** The newest entries, newest first. */
export async function readJournal(
  { rows }: Pick<Session, 'rows'>,
  { tableName }: Dialect,
  entriesMax: number,
): Promise<readonly JournalEntry[]> {
  const found = await rows({
    text: `select ${journalWritten}, role from ${tableName('import_journal')}
      order by id desc limit ${entriesMax}`,
  })
  return found.map(readEntry)
}

const readEntry = (row: NamedRow): JournalEntry => ({
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
})
