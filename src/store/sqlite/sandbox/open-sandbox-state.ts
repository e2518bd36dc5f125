import type { DatabaseSync } from 'node:sqlite'
import { fullTable, type Resource } from '../../../contract/resource.ts'
import type { Clock } from '../../../platform/clock.ts'
import { limits } from '../../../platform/limits.ts'
import type { SandboxState } from '../../sandbox-state.ts'
import { historyTables, recordTables } from '../../schema/tables.ts'
import { openFurther } from '../database.ts'
import type { StorePaths } from '../files/require-files.ts'
import { openTransactions } from '../locks.ts'
import { openAddRecords } from './add-records.ts'
import { openSnapshots } from './snapshot-files.ts'

/** Separate connections to both databases of a sandbox, which the server has opened before. */
export function openSandboxState(paths: StorePaths, clock: Clock): SandboxState {
  const open = (path: string) => {
    const db = openFurther(path)
    // A test does not wait for the disk: after a power cut its last writes may be gone. A restore
    // writes every page, so the log is moved to the file after a few of them, at 16 MB.
    db.exec('pragma synchronous = normal; pragma temp_store = memory')
    db.exec('pragma wal_autocheckpoint = 2000')
    return db
  }
  const [records, credentials] = [open(paths.records), open(paths.credentials)]
  const writeRecords = openTransactions(records)
  const writeCredentials = openTransactions(credentials)
  const addRecords = openAddRecords(records)
  const { dropAll, ...snapshots } = openSnapshots(paths, { records, credentials })
  return {
    addRecords: async (added) => {
      try {
        await writeRecords(async () => {
          addRecords(added, clock())
        }, patient())
        return true
      } catch (error) {
        if (isTaken(error)) return false
        throw error
      }
    },
    removeRecord: (resource, id) =>
      writeRecords(async () => removeRecord(records, resource, id), patient()),
    removeCustomer: async (customerId) => {
      // Clients first, so that no request of theirs finds half of the records.
      await writeCredentials(async () => removeCredentials(credentials, customerId), patient())
      await writeRecords(async () => {
        for (const table of [...recordTables, ...historyTables]) {
          records.prepare(`delete from ${table} where customer_id = ?`).run(customerId)
        }
        // The same seed may create the customer again, at a time that was set back.
        records.prepare(raiseRevisions).run(customerId)
      }, patient())
    },
    ...snapshots,
    close: async () => {
      dropAll()
      records.close()
      credentials.close()
    },
  }
}

/** Hundreds of workers may write at once, and a test rather waits than fails. */
const patient = () => performance.now() + limits.requestTimeoutMs

const raiseRevisions = 'update revision set changed_at = changed_at + 1 where customer_id = ?'

/** A unique index or a primary key refused a row. */
const isTaken = (error: unknown): boolean =>
  constraints.includes((error as { readonly errcode?: unknown }).errcode)

/** SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY. */
const constraints: readonly unknown[] = [2067, 1555]

function removeRecord(db: DatabaseSync, resource: Resource, id: string): boolean {
  const { table, kind } = resource
  const found = db.prepare(`select customer_id from ${table} where id = ?`).get(id)
  if (found === undefined) return false
  const customerId = String(found.customer_id)
  for (const name of new Set([table, fullTable(resource)])) {
    db.prepare(`delete from ${name} where customer_id = ? and id = ?`).run(customerId, id)
  }
  const history = 'delete from superseded where customer_id = ? and kind = ? and id = ?'
  db.prepare(history).run(customerId, kind, id)
  // The page has another content, so it must have another entity tag.
  db.prepare(`${raiseRevisions} and kind = ?`).run(customerId, kind)
  return true
}

function removeCredentials(db: DatabaseSync, customerId: string): void {
  const clients = '(select id from client where customer_id = ?)'
  db.exec('update credential_revision set value = value + 1')
  for (const sql of [
    `delete from client_secret where client_id in ${clients}`,
    `delete from used_assertion where client_id in ${clients}`,
    'delete from fee_quote where customer_id = ?',
    'delete from client where customer_id = ?',
  ])
    db.prepare(sql).run(customerId)
}
