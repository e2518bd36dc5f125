import writeExcelFile from 'write-excel-file/universal'
import { balancesOf } from '../../kinds/balances.ts'
import type { ColumnOf, Row } from '../../kinds/kind.ts'

type Cell = { readonly value: string | number; readonly type: typeof String | typeof Number }

/** More digits than a spreadsheet keeps of a number. Such an amount is written as text. */
const DIGITS_MAX = 15

/**
 * A workbook for people: every code is text, so `021000021` keeps its zero, and no cell is a
 * formula. Amounts are numbers where a spreadsheet keeps all of their digits. A statement has a row
 * for each asset, so that a column can be added up.
 */
export async function spreadsheetOf(
  columns: readonly ColumnOf[],
  rows: readonly Row[],
): Promise<Blob> {
  const head = [...columns.map(({ title }) => title), ...(hasBalances(rows) ? ['Asset'] : [])]
  const lines = rows
    .flatMap(byBalance)
    .map((row) => [
      ...columns.map((column) => cellOf(column, row)),
      ...(hasBalances(rows) ? [text(balancesOf(row.record)[0]?.asset ?? '')] : []),
    ])
  const bold = head.map((title) => ({ ...text(title), fontWeight: 'bold' as const }))
  const widths = head.map(() => ({ width: 22 }))
  return await writeExcelFile([bold, ...lines], {
    columns: widths,
    stickyRowsCount: 1,
    sheet: 'Bursar',
  }).toBlob()
}

const hasBalances = ([first]: readonly Row[]): boolean =>
  first !== undefined && balancesOf(first.record).length > 0

const byBalance = (row: Row): readonly Row[] => {
  const balances = balancesOf(row.record)
  if (balances.length < 2) return [row]
  return balances.map((balance) => ({
    ...row,
    record: { ...row.record, statement_balances: [balance] },
  }))
}

const text = (value: string): Cell => ({ value, type: String })

function cellOf(column: ColumnOf, row: Row): Cell {
  const own = column.amounts?.(row)[0]
  if (own === undefined) return text(column.text(row.record, row))
  const digits = own.replace(/^-?0*|[.]/g, '').length
  return digits <= DIGITS_MAX ? { value: Number(own), type: Number } : text(own)
}
