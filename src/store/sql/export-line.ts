import { fullTable, type Resource } from '../../contract/resource.ts'
import { printInstant } from '../../values/instant.ts'

/** A stored record as export reads it. Instants are microseconds. */
export type StoredRecord = {
  readonly customerId: string
  /** In full. */
  readonly body: string
  readonly deletedAt: bigint | null
  readonly sourceVersion: bigint | null
}

/** Every record of a kind, or of one customer of it: customer, body in full, deletion and version, in the store's order. */
export function exportQuery(
  resource: Resource,
  tableNamed: (name: string) => string,
  customerParameter: string | undefined,
): string {
  const full = fullTable(resource)
  const isApart = full !== resource.table
  return `
    select k.customer_id, ${isApart ? 'f' : 'k'}.body as body, k.deleted_at, k.source_version
    from ${tableNamed(resource.table)} as k
    ${isApart ? `join ${tableNamed(full)} as f using (customer_id, id)` : ''}
    ${customerParameter === undefined ? '' : `where k.customer_id = ${customerParameter}`}
    order by k.customer_id, k.deleted, k.position`
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
