import type { OperatorRecords } from '../../records.ts'
import type { Value } from '../../session.ts'
import {
  nextKey,
  prunedTables,
  pruneRow,
  pruneStep,
  raiseKeptSince,
} from '../../sql/history/prune.ts'
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'

type Pruner = Pick<OperatorRecords, 'pruneHistory'>

const tableName = (table: string): string => `bursar.${table}`
const keyFrom =
  (first: number) =>
  (at: number, type: string): string =>
    `$${at + first}::${type}`
const names = { tableName, before: '$1::bigint', rowsMax: '$2::bigint', key: keyFrom(3) }

export function openPruner(servers: Servers): Pruner {
  return {
    pruneHistory: (before, from, rowsMax) =>
      inTransaction(servers, async (connection) => {
        if (from === undefined) {
          await connection.query({ text: raiseKeptSince(names), values: [before] })
        }
        const pruned = prunedTables.find(({ table }) => table === (from?.table ?? 'superseded'))
        if (pruned === undefined) return { deleted: 0, next: undefined }
        const values = [before, rowsMax, ...((from?.values ?? []) as readonly Value[])]
        const text = pruneStep(pruned, from?.values === undefined, names)
        const rows = await connection.rows({ text, values, prepare: true })
        const ended = rows.filter((row) => row.is_ended === true)
        const remove = pruneRow(pruned, { tableName, key: keyFrom(1) })
        for (const row of ended) {
          const of = pruned.key.map(([column]) => row[column] as Value)
          await connection.query({ text: remove, values: of, prepare: true })
        }
        return { deleted: ended.length, next: nextKey(pruned, rows, rowsMax) }
      }),
  }
}
