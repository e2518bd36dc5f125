import { stagedValues } from '../staging.ts'
import type { StorableRecord } from '../store.ts'

type StagedRecord = StorableRecord & { readonly sequence: number }

/** One line of COPY's text format (PostgreSQL, COPY, File Formats): columns between tabs, null as \N. */
export function copyLine(columns: readonly string[], record: StagedRecord): string {
  const values: Readonly<Record<string, string | number | bigint | null>> = {
    ...stagedValues(record),
    sequence: record.sequence,
    position: `\\x${Buffer.from(record.position).toString('hex')}`,
  }
  return `${columns.map((column) => escaped(values[column] ?? null)).join('\t')}\n`
}

const special = /[\\\t\n\r]/g
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
}

function escaped(value: string | number | bigint | null): string {
  if (value === null) return '\\N'
  return typeof value === 'string'
    ? value.replace(special, (character) => escapes[character] ?? character)
    : String(value)
}
