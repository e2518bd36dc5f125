import type { Resource } from '../../contract/resource.ts'
import { exportLine } from '../export-line.ts'
import { fullTable } from '../merge-query.ts'
import type { Connection, Row } from './connection.ts'
import { holdSession } from './hold-session.ts'
import type { Servers } from './servers.ts'

/** Rows that are in memory at a time. */
const FETCHED_AT_ONCE = 1000

/** All lines show the store at one moment, however long the reader takes for them. */
export async function* exportLines(
  servers: Servers,
  resource: Resource,
  customerId: string | undefined,
): AsyncIterable<string> {
  const session = await holdSession(servers)
  try {
    const { connection } = session
    await connection.execute('begin transaction isolation level repeatable read read only')
    await connection.query({
      text: `declare records no scroll cursor for ${exportQuery(resource, customerId !== undefined)}`,
      ...(customerId !== undefined && { values: [customerId] }),
    })
    for (;;) {
      const rows = await fetch(connection)
      for (const row of rows) yield lineOf(resource, row)
      if (rows.length < FETCHED_AT_ONCE) return
    }
  } finally {
    // With the session goes its transaction.
    await session.drop()
  }
}

const fetch = (connection: Connection): Promise<readonly Row[]> =>
  connection.query({ text: `fetch ${FETCHED_AT_ONCE} from records` })

function exportQuery(resource: Resource, ofOneCustomer: boolean): string {
  const full = fullTable(resource)
  const join = full === resource.table ? '' : `join bursar.${full} as f using (customer_id, id)`
  const body = full === resource.table ? 'k.body' : 'f.body'
  return `
    select k.customer_id, ${body}, k.deleted_at, k.source_version
    from bursar.${resource.table} as k ${join}
    ${ofOneCustomer ? 'where k.customer_id = $1' : ''}
    order by k.customer_id, k.deleted, k.position`
}

function lineOf(resource: Resource, [customerId, body, deletedAt, sourceVersion]: Row): string {
  return exportLine(resource, {
    customerId: String(customerId),
    body: String(body),
    deletedAt: deletedAt == null ? null : BigInt(String(deletedAt)),
    sourceVersion: sourceVersion == null ? null : BigInt(String(sourceVersion)),
  })
}
