import type { StorableRecord } from '../../records/import.ts'
import { stagedValues } from '../../sql/staging.ts'
import { hexOf } from '../driver/cells.ts'

/** One line of COPY's text format: the sequence and the columns between tabs, null as \N. */
export function copyLine(columns: readonly string[], sequence: number, record: StorableRecord) {
  const values: Readonly<Record<string, StagedValue>> = stagedValues(record)
  let line = String(sequence)
  for (const column of columns) line += `\t${escaped(values[column] ?? null)}`
  return `${line}\n`
}

type StagedValue = string | number | bigint | Uint8Array | null

const special = /[\\\t\n\r]/g
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
}

function escaped(value: StagedValue): string {
  if (value === null) return '\\N'
  if (typeof value === 'string') {
    return value.replace(special, (character) => escapes[character] ?? character)
  }
  return value instanceof Uint8Array ? escaped(hexOf(value)) : String(value)
}
