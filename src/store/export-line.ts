import type { Resource } from '../contract/resource.ts'
import { printInstant } from '../platform/instant.ts'

/** A stored record as export reads it. Instants are microseconds. */
export type StoredRecord = {
  readonly customerId: string
  /** In full. */
  readonly body: string
  readonly deletedAt: bigint | null
  readonly sourceVersion: bigint | null
}

/** One line of JSON that import takes back: what is answered in full, and the members that no view answers. */
export function exportLine(resource: Resource, record: StoredRecord): string {
  const withheld = {
    customer_id: record.customerId,
    deleted_at: record.deletedAt === null ? null : printInstant(record.deletedAt),
    source_version: record.sourceVersion === null ? null : Number(record.sourceVersion),
  }
  const pairs = Object.entries(withheld)
    .filter(([member, value]) => value !== null && resource.withheldMembers.includes(member))
    .map(([member, value]) => `,${JSON.stringify(member)}:${JSON.stringify(value)}`)
  return `${record.body.slice(0, -1)}${pairs.join('')}}`
}
