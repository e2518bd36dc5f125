import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { OperatorRecords } from '../../records.ts'
import {
  nextKey,
  prunedTables,
  pruneRow,
  pruneStep,
  raiseKeptSince,
} from '../../sql/history/prune.ts'
import { prepare } from '../database.ts'
import type { Write } from '../locks.ts'

type Pruner = Pick<OperatorRecords, 'pruneHistory'>

const tableName = (table: string): string => table
const key = (at: number): string => `?${at + 3}`
const names = { tableName, before: '?1', rowsMax: '?2', key }

export function openPruner(db: DatabaseSync, write: Write): Pruner {
  return {
    pruneHistory: (before, from, rowsMax) =>
      write(() => {
        if (from === undefined) {
          db.prepare(raiseKeptSince(names)).run(before)
        }
        const pruned = prunedTables.find(({ table }) => table === (from?.table ?? 'superseded'))
        if (pruned === undefined) return { deleted: 0, next: undefined }
        const last = from?.values as readonly SQLInputValue[] | undefined
        const step = prepare(db, pruneStep(pruned, last === undefined, names))
        const rows = step.all(before, BigInt(rowsMax), ...(last ?? []))
        const ended = rows.filter((row) => row.is_ended === 1n)
        const remove = db.prepare(pruneRow(pruned, { tableName, key: () => '?' }))
        for (const row of ended) {
          remove.run(...pruned.key.map(([column]) => row[column] as SQLInputValue))
        }
        return { deleted: ended.length, next: nextKey(pruned, rows, rowsMax) }
      }),
  }
}
