import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Resource } from '../../../contract/resource.ts'
import type { StorableRecord } from '../../records/import.ts'
import { createStagedOrigin, lossColumns, stagedColumns, stagedValues } from '../../sql/staging.ts'

/** Creates the staging table of a kind, and returns what adds a record to it. */
export function createStagingTable(
  db: DatabaseSync,
  resource: Resource,
): (record: StorableRecord) => void {
  const columns = stagedColumns(resource)
  // Node binds numbers as reals, so without an integer column line 7 would be reported as 7.0.
  const whole = new Set(['file', 'line'])
  const typed = columns.map((name) => (whole.has(name) ? `${name} integer` : name))
  db.exec(`create temp table staged (
    sequence integer primary key, ${typed.join(', ')}, ${lossColumns})`)
  db.exec(createStagedOrigin)
  const insert = db.prepare(
    `insert into staged (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
  )
  return (record) => {
    const values: Readonly<Record<string, SQLInputValue>> = stagedValues(record)
    // By position: SQLite would look up each name.
    insert.run(...columns.map((column) => values[column] ?? null))
  }
}
