import type { RecordData } from './kind.ts'

/** The member at a path such as `fiat_network_instructions.wire.account_number`, as text. */
export function memberText(record: RecordData | undefined, path: string): string {
  const value = record === undefined ? undefined : memberAt(record, path)
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export function memberAt(record: object, path: string): unknown {
  let value: unknown = record
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}
