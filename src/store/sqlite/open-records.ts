import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Clock } from '../../platform/clock.ts'
import type { OperatorDoor, Store } from '../records.ts'
import { readMigrations } from '../sql/migration.ts'
import { recordTables } from '../sql/record-tables.ts'
import { customerDoor, statementCache } from './customer-records.ts'
import { integrityFaults, openDatabase } from './database.ts'
import { exportLines } from './export.ts'
import { openLoad } from './load.ts'
import { inTransaction, migrate } from './migrate.ts'

const migrations = readMigrations(new URL('./migrations/records/', import.meta.url), [
  '0001-records.sql',
])

/** The records in one SQLite file; clients, keys and quotes have a file of their own, so that no import blocks them. */
export function openSqliteStore(path: string, clock: Clock): Store {
  const db = openDatabase(path)
  // Enough for the upper levels of every index and the newest pages of the customers who ask.
  db.exec('pragma cache_size = -65536')
  migrate(db, 'records', migrations)
  const prepare = statementCache(db)
  return {
    customers: customerDoor(prepare),
    operator: operatorDoor(db, path, prepare, clock),
    async ping() {
      prepare('select 1 from fiat_account limit 1').get()
    },
    integrityFaults: async () => integrityFaults(db),
    async close() {
      db.close()
    },
  }
}

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
        // A page that was held before must not pass for the one that comes after.
        db.exec('update revision set changed_at = changed_at + 1')
      })
    },
  }
}
