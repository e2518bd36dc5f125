import { type Clock, systemTime } from '@bursar/base'
import { contractLimits, resources } from '@bursar/contract'
import {
  customerNumber,
  heldTable,
  historyTables,
  nameTables,
  recordTables,
  removeTerms,
  type SandboxState,
  type Sealing,
  type Session,
} from '@bursar/records'
import { openFurther } from '../database.ts'
import { dialect } from '../dialect.ts'
import type { StorePaths } from '../files/require-files.ts'
import { openTransactions } from '../locks.ts'
import { addRecords, ValueHeld } from './add-records.ts'
import { removeRecord } from './remove-record.ts'
import { openSnapshots } from './snapshot-files.ts'
import { storeHistory } from './store-history.ts'

/** Separate connections to both databases of a sandbox, which the server has opened before. */
export function openSandboxState(paths: StorePaths, clock: Clock, sealing: Sealing): SandboxState {
  const making = { ...sealing, dialect, clock }
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
  const { dropAll, ...snapshots } = openSnapshots(paths, { records, credentials })
  return {
    storeHistory: (history) =>
      writeRecords(
        (session) => storeHistory({ session, db: records }, history, clock(), making),
        patient(),
      ),
    addRecords: async (added) => {
      try {
        await writeRecords((session) => addRecords(session, added, clock(), making), patient())
        return true
      } catch (error) {
        if (isTaken(error) || error instanceof ValueHeld) return false
        throw error
      }
    },
    removeRecord: (resource, id) =>
      writeRecords((session) => removeRecord(session, resource, id, clock()), patient()),
    removeCustomer: async (customerId) => {
      // Clients first, so that no request of theirs finds half of the records.
      await writeCredentials((session) => removeCredentials(session, customerId), patient())
      await writeRecords(async ({ rows }) => {
        for (const text of removeCustomerTerms) await rows({ text, values: [customerId] })
        for (const table of [...recordTables, ...historyTables, ...nameTables, heldTable]) {
          await rows({
            text: `delete from ${table} where customer = ${numberOf('$1')}`,
            values: [customerId],
          })
        }
        // The same seed may create the customer again, at a time that was set back.
        await rows({ text: raiseRevisions, values: [customerId] })
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
const patient = () => systemTime.elapsedMs() + contractLimits.requestTimeoutMs

const numberOf = (id: string) => customerNumber(dialect, id)

const removeCustomerTerms = resources.flatMap(({ table, terms }) => {
  const rows = { from: `${table} as stored`, where: `stored.customer = ${numberOf('$1')}` }
  return terms === undefined ? [] : [removeTerms(dialect, { ...rows, row: 'stored' })]
})

const raiseRevisions = `
  update revision set changed_at = changed_at + 1, live = 0 where customer = ${numberOf('$1')}`

/** A unique index or a primary key refused a row. */
const isTaken = (error: unknown): boolean =>
  constraints.includes((error as { readonly errcode?: unknown }).errcode)

/** SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY. */
const constraints: readonly unknown[] = [2067, 1555]

async function removeCredentials({ rows, run }: Session, customerId: string): Promise<void> {
  const clients = '(select id from client where customer_id = $1)'
  await run('update credential_revision set value = value + 1')
  for (const remove of [
    `delete from client_secret where client_id in ${clients}`,
    `delete from used_assertion where client_id in ${clients}`,
    'delete from fee_quote where customer_id = $1',
    'delete from client where customer_id = $1',
  ]) {
    await rows({ text: remove, values: [customerId] })
  }
}
