import { existsSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/**
 * Inserts every deposit address of a store into an empty copy of its table and indexes, in one
 * transaction, and prints rows a second. Usage: sqlite-bulk.ts FILE
 */
const [file = ''] = process.argv.slice(2)
const copy = `${file}.copy`
const source = new DatabaseSync(file)
const schema = source
  .prepare("select sql from sqlite_schema where tbl_name = 'deposit_address' and sql is not null")
  .all()
source.close()
const db = new DatabaseSync(copy)
db.exec('pragma page_size = 8192; pragma journal_mode = wal; pragma synchronous = full')
for (const { sql } of schema) db.exec(String(sql))
db.prepare('attach ? as stored').run(file)
const startedAt = performance.now()
// The order of the file that was imported.
const { changes } = db
  .prepare(
    'insert into deposit_address select * from stored.deposit_address order by substr(position, -6)',
  )
  .run()
db.exec('pragma wal_checkpoint(truncate)')
process.stdout.write(`${(Number(changes) * 1000) / (performance.now() - startedAt)}\n`)
db.close()
for (const end of ['', '-wal', '-shm']) if (existsSync(copy + end)) rmSync(copy + end)
