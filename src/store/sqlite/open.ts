import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Clock } from '../../platform/clock.ts'
import type { OperatorDoor, Store } from '../store.ts'
import { exportLines } from './export.ts'
import { openLoad } from './load.ts'
import { inTransaction, migrate } from './migrate.ts'
import { customerDoor, statementCache } from './records.ts'

const recordMigrations = [{ id: 1, sql: readMigration('0001-records.sql') }]

function readMigration(name: string): string {
  return readFileSync(new URL(`migrations/${name}`, import.meta.url), 'utf8')
}

/** The records in one SQLite file; clients, keys and quotes have a file of their own, so that no import blocks them. */
export function openSqliteStore(path: string, clock: Clock): Store {
  mkdirSync(dirname(path), { recursive: true })
  const db = new DatabaseSync(path)
  // 8 KB pages hold a page's records without overflow chains (bench/reads.ts); the size is fixed once a table exists.
  db.exec(`
    pragma page_size = 8192;
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma busy_timeout = 5000;
    pragma cache_size = -65536;`)
  migrate(db, 'records', recordMigrations)
  const prepare = statementCache(db)
  return {
    customers: customerDoor(prepare),
    operator: operatorDoor(db, path, prepare, clock),
    async ping() {
      prepare('select 1 from fiat_account limit 1').get()
    },
    async integrityFaults() {
      const rows = db.prepare('pragma integrity_check').all()
      return rows.map((row) => String(row.integrity_check)).filter((line) => line !== 'ok')
    },
    async close() {
      db.close()
    },
  }
}

const recordTables = [
  'fiat_account',
  'fiat_account_full',
  'fiat_deposit_instructions',
  'deposit_address',
  'statement',
  'issuer_quote_execution',
  'superseded',
]

function operatorDoor(
  db: DatabaseSync,
  path: string,
  prepare: (sql: string) => StatementSync,
  clock: Clock,
): OperatorDoor {
  return {
    beginLoad: (resource) => openLoad(path, resource, clock),
    async *exportLines(resource, customerId) {
      yield* exportLines(db, resource, customerId)
    },
    async count(resource) {
      return Number(prepare(`select count(*) as n from ${resource.table}`).get()?.n)
    },
    async clear() {
      inTransaction(db, () => {
        for (const table of recordTables) db.exec(`delete from ${table}`)
      })
    },
  }
}
