import type { DatabaseSync } from 'node:sqlite'
import { limits } from '../../../platform/limits.ts'

/**
 * Runs the insert of so many rows. If the table is empty, its indexes are dropped first and built
 * after it, in the transaction of the caller: that takes 40 % of the time, and packs the indexes.
 * Readers see the table before or after it. On PostgreSQL only the owner of a table may drop its
 * indexes, and the role that imports is not the owner.
 */
export async function buildingIndexes(
  db: DatabaseSync,
  table: string,
  rows: number,
  insert: () => Promise<void>,
): Promise<void> {
  const isEmpty = () => db.prepare(`select 1 from ${table} limit 1`).get() === undefined
  const ofTable = `select name, sql from sqlite_schema
    where type = 'index' and tbl_name = ? and sql is not null order by rowid`
  const indexes =
    rows >= limits.indexesBuiltAfterRowsMin && isEmpty() ? db.prepare(ofTable).all(table) : []
  for (const { name } of indexes) db.exec(`drop index ${name}`)
  await insert()
  for (const { sql } of indexes) db.exec(String(sql))
}
