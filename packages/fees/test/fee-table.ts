import { readFileSync, writeFileSync } from 'node:fs'
import { describeSchedule, type ScheduleRow } from '../src/describe-schedule.ts'
import { basisWith, now } from './sample-basis.ts'

export const document = new URL('../../../docs/fees.md', import.meta.url)
const begin = '<!-- The table is written by `node packages/fees/test/fee-table.ts --write`. -->\n\n'
const end = '\n\n<!-- End of the table. -->'

/** The text of docs/fees.md with the current table of the embedded schedule. */
export function documentInForce(text: string): string {
  const before = text.slice(0, text.indexOf(begin) + begin.length)
  return before + feeTable() + text.slice(text.indexOf(end))
}

function feeTable(): string {
  const head = [
    'asset',
    'network',
    'decimals',
    'contract, mint or issuer',
    'certainty',
    'cost',
    'fee',
    'minimum',
  ]
  const rows = describeSchedule(basisWith(), now).map(cells)
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (row: readonly string[], fill = ' '): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`
  const rule = line(
    head.map(() => ''),
    '-',
  )
  return [line(head), rule, ...rows.map((row) => line(row))].join('\n')
}

function cells(row: ScheduleRow): string[] {
  const { charge } = row
  const [cost, fee] =
    'fee' in charge ? [`${charge.cost} ${charge.costAsset}`, charge.fee] : ['', charge.unavailable]
  const token = row.token === undefined ? 'the network’s own coin' : `\`${row.token}\``
  const certainty = `${row.certainty ?? ''}${row.enabled ? '' : ', off'}`
  const { asset, network, decimals, minimum } = row
  return [asset, network, String(decimals), token, certainty, cost, fee, minimum]
}

if (process.argv.includes('--write')) {
  writeFileSync(document, documentInForce(readFileSync(document, 'utf8')))
}
