import type { ColumnOf } from '../kinds/kind.ts'
import type { RecordData } from './records.ts'

/** The first line of a file. The mark at its start tells Excel that the text is UTF-8. */
export const csvHead = (columns: readonly ColumnOf[]): string =>
  `\uFEFF${lineOf(columns.map(({ name }) => name))}`

export const csvLines = (columns: readonly ColumnOf[], records: readonly RecordData[]): string =>
  records.map((record) => lineOf(columns.map(({ text }) => text(record)))).join('')

const lineOf = (cells: readonly string[]): string => `${cells.map(cellOf).join(',')}\r\n`

/**
 * A cell that spreadsheets show and never run. A spreadsheet may split a line at another separator
 * than the comma, and then reads the quotes as text. So each part of a text that starts like a
 * formula gets an apostrophe of its own. A plain number stays one.
 */
function cellOf(text: string): string {
  const isNumber = /^-?\d*\.?\d+$/.test(text)
  const safe = isNumber ? text : text.replace(formulaStart, "$1'")
  return /[",;|\t\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const formulaStart = /(^|[;,|\t\r\n])(?=[\s"]*[=+\-@＝＋－＠])/g
