import type { StorableRecord } from '../store.ts'

type StagedRecord = StorableRecord & { readonly sequence: number }

/** One line of COPY's text format (PostgreSQL, COPY, File Formats): columns between tabs, null as \N. */
export function copyLine(columns: readonly string[], record: StagedRecord): string {
  const values: Readonly<Record<string, string | number | bigint | null>> = {
    ...record.members,
    sequence: record.sequence,
    line: record.line,
    customer_id: record.customerId,
    id: record.id,
    position: `\\x${Buffer.from(record.position).toString('hex')}`,
    full_body: record.full,
    masked: record.masked,
    deleted_at: record.deletedAt ?? null,
    keeps_deletion: record.deletedAt === undefined ? 1 : 0,
    updated_at: record.updatedAt,
    source_version: record.sourceVersion,
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
