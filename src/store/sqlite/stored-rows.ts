import type { DatabaseSync } from 'node:sqlite'
import type { StoredRows } from '../integrity/stored-row.ts'
import {
  readStoredRow,
  rowOfIdQuery,
  rowsAfterQuery,
  unpairedQuery,
} from '../sql/integrity/stored-row-queries.ts'
import { guarded, prepare } from './database.ts'

const tableName = (table: string): string => table

/** Reads rows through a connection of its own, which `open` returns, to spare readers' cache. */
export function storedRows(open: () => DatabaseSync): StoredRows {
  return {
    after: async (resource, key, rowsMax) =>
      guarded(() => {
        const names = [':customer', ':deleted', ':position', ':rowsMax']
        const sql = rowsAfterQuery(resource, tableName, names, key === undefined)
        const parameters =
          key === undefined
            ? { rowsMax }
            : {
                customer: key.customerId,
                deleted: Number(key.deleted),
                position: key.position,
                rowsMax,
              }
        return prepare(open(), sql)
          .all(parameters)
          .map((row) => readStoredRow(resource, row))
      }),
    find: async (resource, customer, id) =>
      guarded(() => {
        const sql = rowOfIdQuery(resource, tableName, [':customer', ':id'])
        const row = prepare(open(), sql).get({ customer, id })
        return row === undefined ? undefined : readStoredRow(resource, row)
      }),
    unpaired: async (resource, rowsMax) =>
      guarded(() => {
        const sql = unpairedQuery(resource, tableName, ':rowsMax')
        return open()
          .prepare(sql)
          .all({ rowsMax })
          .map(({ id }) => String(id))
      }),
  }
}
