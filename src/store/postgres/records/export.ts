import type { Resource } from '../../../contract/resource.ts'
import { limits } from '../../../platform/limits.ts'
import {
  exportLine,
  exportQuery,
  readStoredRecord,
  refuseUnlisted,
  unlistedQuery,
} from '../../sql/export-line.ts'
import { holdSession } from '../cluster/hold-session.ts'
import type { Servers } from '../cluster/servers.ts'
import { bulkTransaction, setLocal } from '../driver/sessions.ts'

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
    await connection.execute(
      `begin transaction isolation level repeatable read read only;
       ${setLocal(bulkTransaction(limits.operatorStatementMs))}`,
    )
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
      const rows = await connection.rows({ text: `fetch ${FETCHED_AT_ONCE} from records` })
      for (const row of rows) yield exportLine(resource, readStoredRecord(row))
      if (rows.length < FETCHED_AT_ONCE) return
    }
  } finally {
    // Closing the session ends its transaction.
    await session.drop()
  }
}

const tableName = (table: string): string => `bursar.${table}`
