import type { ColumnOf } from '../kinds/kind.ts'
import type { RecordData } from './records.ts'

/** The first line of a file. The mark at its start tells Excel that the text is UTF-8. */
export const csvHead = (columns: readonly ColumnOf[]): string =>
  `\uFEFF${lineOf(columns.map(({ name }) => name))}`

export const csvLines = (columns: readonly ColumnOf[], records: readonly RecordData[]): string =>
  records.map((record) => lineOf(columns.map(({ text }) => text(record)))).join('')

const lineOf = (cells: readonly string[]): string => `${cells.map(cellOf).join(',')}\r\n`

/**
 * A cell that spreadsheets show and never run. A text with a part that starts like a formula gets
 * an apostrophe, whatever a spreadsheet takes for a separator; a plain number stays one.
 */
function cellOf(text: string): string {
  const isFormula = /(^|[;,\t\r\n])\s*[=+\-@＝＋－＠]/.test(text) && !/^-?\d*\.?\d+$/.test(text)
  const safe = isFormula ? `'${text}` : text
  return /[",;\t\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
