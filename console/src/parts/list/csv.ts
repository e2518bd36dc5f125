import type { ColumnOf, Row } from '../../kinds/kind.ts'

/** The first line of a file. The mark at its start tells Excel that the text is UTF-8. */
export const csvHead = (columns: readonly ColumnOf[]): string =>
  `\uFEFF${lineOf(columns.map(({ name }) => name))}`

export const csvLines = (columns: readonly ColumnOf[], rows: readonly Row[]): string =>
  rows.map((row) => lineOf(columns.map(({ text }) => text(row.record, row)))).join('')

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
