import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { Resource } from '../../contract/resource.ts'
import { printInstant } from '../../platform/instant.ts'
import { fullTable } from './records.ts'

/** Records as lines of JSON that import takes back: what is answered in full, and the members that no view answers. */
export function* exportLines(
  db: DatabaseSync,
  resource: Resource,
  customerId: string | undefined,
): Iterable<string> {
  const statement = db.prepare(exportQuery(resource, customerId !== undefined))
  statement.setReadBigInts(true)
  const rows = customerId === undefined ? statement.iterate() : statement.iterate(customerId)
  for (const row of rows) yield exportLine(resource, row)
}

function exportQuery(resource: Resource, ofOneCustomer: boolean): string {
  const full = fullTable(resource)
  const join = full === resource.table ? '' : `join ${full} as f using (customer_id, id)`
  const body = full === resource.table ? 'k.body' : 'f.body'
  return `
    select k.customer_id, ${body} as body, k.deleted_at, k.source_version
    from ${resource.table} as k ${join}
    ${ofOneCustomer ? 'where k.customer_id = ?' : ''}
    order by k.customer_id, k.deleted, k.position`
}

function exportLine(resource: Resource, row: Record<string, SQLOutputValue>): string {
  const withheld = {
    customer_id: row.customer_id,
    deleted_at: typeof row.deleted_at === 'bigint' ? printInstant(row.deleted_at) : null,
    source_version: typeof row.source_version === 'bigint' ? Number(row.source_version) : null,
  }
  const pairs = Object.entries(withheld)
    .filter(([member, value]) => value !== null && resource.withheldMembers.includes(member))
    .map(([member, value]) => `,${JSON.stringify(member)}:${JSON.stringify(value)}`)
  return `${String(row.body).slice(0, -1)}${pairs.join('')}}`
}
