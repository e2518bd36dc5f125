import type { ImportOrigin, JournalEntry } from '../../records/import.ts'
import { type NamedRow, optionalText, text, whole } from '../../row.ts'
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

/** Adds an entry. The parameters are numbered, and `journalValues` is their order. */
export const insertJournal = (table: string, parameter: (number: number) => string): string =>
  `insert into ${table} (${journalWritten})
   values (${written.map((_column, at) => parameter(at + 1)).join(', ')})`

export const journalValues = (
  kind: string,
  storedAt: bigint,
  { file, sha256, user, sudoUser }: ImportOrigin,
  { records, added, changed }: FileCounts,
): (string | bigint | number | null)[] => [
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
]

export const selectJournal = (table: string, entriesMax: number): string =>
  `select ${journalWritten}, role from ${table} order by id desc limit ${entriesMax}`

export const readJournalEntry = (row: NamedRow): JournalEntry => ({
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
