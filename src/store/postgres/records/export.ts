import type { Resource } from '../../../contract/resource.ts'
import type { FoundRecord } from '../../records.ts'
import {
  exportLine,
  exportQuery,
  findQuery,
  foundRecord,
  refuseUnlisted,
  type StoredRecord,
  unlistedQuery,
} from '../../sql/export-line.ts'
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
    const parameter = customerId === undefined ? undefined : '$1'
    const values = customerId === undefined ? [] : [customerId]
    if (resource.mask !== undefined) {
      const text = unlistedQuery(resource, tableName, parameter)
      const [unlisted] = await connection.query({ text, values })
      refuseUnlisted(resource, unlisted?.[0])
    }
    const text = exportQuery(resource, tableName, parameter)
    await connection.query({ text: `declare records no scroll cursor for ${text}`, values })
    for (;;) {
      const rows = await connection.query({ text: `fetch ${FETCHED_AT_ONCE} from records` })
      for (const row of rows) yield exportLine(resource, storedRecord(row))
      if (rows.length < FETCHED_AT_ONCE) return
    }
  } finally {
    // Closing the session ends its transaction.
    await session.drop()
  }
}

const tableName = (table: string): string => `bursar.${table}`

/** A record of any customer, from the primary, so that it is not an older version. */
export async function findRecord(
  servers: Servers,
  resource: Resource,
  id: string,
): Promise<FoundRecord | undefined> {
  const [row] = await servers.query({
    text: findQuery(resource, tableName, '$1::uuid'),
    values: [id],
  })
  return row === undefined ? undefined : foundRecord(resource, storedRecord(row))
}

function storedRecord(row: Row): StoredRecord {
  const [customerId, id, body, checksum, deletedAt, sourceVersion, storedAt] = row
  return {
    customerId: String(customerId),
    id: String(id),
    body: body == null ? null : String(body),
    checksum: checksum == null ? null : Number(checksum),
    deletedAt: deletedAt == null ? null : BigInt(String(deletedAt)),
    sourceVersion: sourceVersion == null ? null : BigInt(String(sourceVersion)),
    storedAt: BigInt(String(storedAt)),
  }
}
