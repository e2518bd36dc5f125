import type { ColumnOf } from '../kinds/kind.ts'
import type { RecordData } from './records.ts'

/** The first line of a file. The mark at its start tells Excel that the text is UTF-8. */
export const csvHead = (columns: readonly ColumnOf[]): string =>
  `\uFEFF${lineOf(columns.map(({ name }) => name))}`

export const csvLines = (columns: readonly ColumnOf[], records: readonly RecordData[]): string =>
  records.map((record) => lineOf(columns.map(({ text }) => text(record)))).join('')

const lineOf = (cells: readonly string[]): string => `${cells.map(cellOf).join(',')}\r\n`

/**
 * A cell that spreadsheets show and never run. A text that starts like a formula gets an
 * apostrophe; a plain number, as amounts are, stays one.
 */
function cellOf(text: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
