import type { Resource } from '../../../contract/resource.ts'
import { exportLine, exportQuery } from '../../sql/export-line.ts'
import { holdSession } from '../cluster/hold-session.ts'
import type { Servers } from '../cluster/servers.ts'
import type { Row } from '../driver/connection.ts'

/** The rows that are in memory at one time. */
const FETCHED_AT_ONCE = 1000

/** All lines come from one snapshot, however slowly the caller reads them. */
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
      text: `declare records no scroll cursor for ${exportQuery(resource, (name) => `bursar.${name}`, customerId === undefined ? undefined : '$1')}`,
      ...(customerId !== undefined && { values: [customerId] }),
    })
    for (;;) {
      const rows = await connection.query({ text: `fetch ${FETCHED_AT_ONCE} from records` })
      for (const row of rows) yield lineOf(resource, row)
      if (rows.length < FETCHED_AT_ONCE) return
    }
  } finally {
    // Closing the session ends its transaction.
    await session.drop()
  }
}

function lineOf(resource: Resource, [customerId, body, deletedAt, sourceVersion]: Row): string {
  return exportLine(resource, {
    customerId: String(customerId),
    body: String(body),
    deletedAt: deletedAt == null ? null : BigInt(String(deletedAt)),
    sourceVersion: sourceVersion == null ? null : BigInt(String(sourceVersion)),
  })
}
