import { fullTable, type Resource } from '../../contract/resource.ts'
import { printInstant } from '../../values/instant.ts'

/** A stored record as export reads it. Times are in microseconds. */
export type StoredRecord = {
  readonly customerId: string
  /** The unmasked record. */
  readonly body: string
  readonly deletedAt: bigint | null
  readonly sourceVersion: bigint | null
}

/** Selects all records of a kind, or those of one customer, by customer and then in list order. */
export function exportQuery(
  resource: Resource,
  tableName: (table: string) => string,
  customerParameter: string | undefined,
): string {
  const full = fullTable(resource)
  const isApart = full !== resource.table
  return `
    select record.customer_id, ${isApart ? 'unmasked' : 'record'}.body as body,
      record.deleted_at, record.source_version
    from ${tableName(resource.table)} as record
    ${isApart ? `join ${tableName(full)} as unmasked using (customer_id, id)` : ''}
    ${customerParameter === undefined ? '' : `where record.customer_id = ${customerParameter}`}
    order by record.customer_id, record.deleted, record.position`
}

/** One line of JSON that import accepts: the unmasked record with its withheld members. */
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
