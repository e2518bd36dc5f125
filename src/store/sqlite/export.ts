import type { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../contract/resource.ts'
import { exportLine } from '../export-line.ts'
import { fullTable } from '../merge-query.ts'

/** Records as lines of JSON that import takes back: what is answered in full, and the members that no view answers. */
export function* exportLines(
  db: DatabaseSync,
  resource: Resource,
  customerId: string | undefined,
): Iterable<string> {
  const statement = db.prepare(exportQuery(resource, customerId !== undefined))
  statement.setReadBigInts(true)
  const rows = customerId === undefined ? statement.iterate() : statement.iterate(customerId)
  for (const row of rows) {
    yield exportLine(resource, {
      customerId: String(row.customer_id),
      body: String(row.body),
      deletedAt: typeof row.deleted_at === 'bigint' ? row.deleted_at : null,
      sourceVersion: typeof row.source_version === 'bigint' ? row.source_version : null,
    })
  }
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
