import type { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../contract/resource.ts'
import { exportLine, exportQuery } from '../sql/export-line.ts'

/** Records as lines of JSON that import takes back: what is answered in full, and the members that no view answers. */
export function* exportLines(
  db: DatabaseSync,
  resource: Resource,
  customerId: string | undefined,
): Iterable<string> {
  const statement = db.prepare(
    exportQuery(resource, (name) => name, customerId === undefined ? undefined : '?'),
  )
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
