import type { StagedValue } from '../../session.ts'
import { hexOf } from '../driver/cells.ts'

/** A row as a line of COPY's text format: the values between tabs, null as \N. */
export const copyLine = (row: readonly StagedValue[]): string => `${row.map(escaped).join('\t')}\n`

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
