import type { RecordData } from './kind.ts'

/** The member at a path such as `fiat_network_instructions.wire.account_number`, as text. */
export function memberText(record: RecordData | undefined, path: string): string {
  const value = record === undefined ? undefined : memberAt(record, path)
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function memberAt(record: object, path: string): unknown {
  let value: unknown = record
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}

/** Every member that is no object, with its path. Arrays of objects count from 1. */
export function flatMembers(value: object, path = ''): readonly (readonly [string, string])[] {
  return Object.entries(value).flatMap(([name, member]): (readonly [string, string])[] => {
    const own = path === '' ? name : `${path}.${name}`
    if (Array.isArray(member)) {
      if (member.every((entry) => typeof entry !== 'object')) return [[own, member.join(', ')]]
      return member.flatMap((entry, at) => flatMembers(entry, `${own}.${at + 1}`))
    }
    if (typeof member === 'object' && member !== null) return [...flatMembers(member, own)]
    return [[own, String(member)]]
  })
}
