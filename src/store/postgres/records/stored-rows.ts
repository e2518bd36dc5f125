import { limits } from '../../../platform/limits.ts'
import type { StoredRows } from '../../integrity/stored-row.ts'
import {
  readStoredRow,
  rowOfIdQuery,
  rowsAfterQuery,
  unpairedQuery,
} from '../../sql/integrity/stored-row-queries.ts'
import type { Servers } from '../cluster/servers.ts'
import { transact } from '../cluster/transaction.ts'
import type { Connection } from '../driver/connection.ts'
import { bulkTransaction, setLocal } from '../driver/sessions.ts'

const tableName = (table: string): string => `bursar.${table}`

/** Reads rows of every customer, as the operator or in a session of the owner that may. */
export function storedRows({ rows }: Pick<Connection, 'rows'>): StoredRows {
  return {
    after: async (resource, key, rowsMax) => {
      const names = key === undefined ? ['', '', '', '$1'] : ['$1', '$2', '$3', '$4']
      const found = await rows({
        text: rowsAfterQuery(resource, tableName, names, key === undefined),
        values: [
          ...(key === undefined ? [] : [key.customerId, key.deleted, key.position]),
          rowsMax,
        ],
      })
      return found.map((row) => readStoredRow(resource, row))
    },
    find: async (resource, customerId, id) => {
      const text = rowOfIdQuery(resource, tableName, ['$1', '$2::uuid'])
      const [row] = await rows({ text, values: [customerId, id] })
      return row === undefined ? undefined : readStoredRow(resource, row)
    },
    unpaired: async (resource, rowsMax) => {
      const found = await rows({
        text: unpairedQuery(resource, tableName, '$1'),
        values: [rowsMax],
      })
      return found.map(({ id }) => String(id))
    },
  }
}

/** The same for the scan, whose steps end soon on the server too, whatever the sessions allow. */
export const scannedRows = (servers: Servers): StoredRows =>
  storedRows({
    rows: (query) =>
      servers.onPrimary(
        (connection) =>
          transact(connection, async () => {
            await connection.execute(SOON)
            return await connection.rows(query)
          }),
        limits.scanStepMs,
      ),
  })

const SOON = setLocal({
  ...bulkTransaction(limits.scanStatementMs),
  lock_timeout: limits.scanLockMs,
})
