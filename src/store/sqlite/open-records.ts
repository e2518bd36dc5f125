import type { DatabaseSync } from 'node:sqlite'
import { openBackground } from '../../background.ts'
import type { Resource } from '../../contract/resource.ts'
import type { Clock } from '../../platform/clock.ts'
import { openLog } from '../../platform/log.ts'
import { openOnce } from '../../platform/open-once.ts'
import { resources } from '../../resources/catalogue.ts'
import { openDamageList } from '../integrity/damage.ts'
import { logDamage, openDamageScan } from '../integrity/damage-scan.ts'
import { verifiedOperator } from '../integrity/verified-operator.ts'
import { verifiedRecords } from '../integrity/verified-records.ts'
import { readJournal } from '../merge/journal.ts'
import { openKeptAnswers } from '../merge/kept-answers.ts'
import { openPutRecords } from '../merge/put-queue.ts'
import type { OperatorRecords, Store } from '../records.ts'
import { historyTables, recordTables, sharedTables, tablesOf } from '../schema/tables.ts'
import {
  exportLine,
  exportQuery,
  isCurrent,
  readStoredRecord,
  refuseUnlisted,
  unlistedQuery,
} from '../sql/export-line.ts'
import { openHistory } from '../versions/open-history.ts'
import { customerRecords } from './customers/customer-records.ts'
import { openReadInTurn } from './customers/read-in-turn.ts'
import { failureOf, integrityFaults, openWithin, prepare } from './database.ts'
import { dialect } from './dialect.ts'
import { emptyAbandonedLog } from './import/disk-space.ts'
import { beginImport } from './import/import-connection.ts'
import { openPutConnection } from './import/put-connection.ts'
import { openTransactions, openWrites } from './locks.ts'
import { openMigrated } from './migrate.ts'
import { openReads, statementCache } from './session.ts'
import { storedRows } from './stored-rows.ts'
import { openMarkFiles } from './tables/mark-files.ts'
import { openTableCheck } from './tables/table-check.ts'

/** The records in one SQLite file. Credentials have another, so an import does not block them. */
export function openSqliteStore(
  path: string,
  clock: Clock,
  log = openLog('silent'),
  background = openBackground(clock),
): Store {
  const db = openMigrated(path, 'records')
  // Enough for the upper levels of every index and the newest pages of the active customers.
  db.exec('pragma cache_size = -65536')
  const cached = statementCache((sql) => db.prepare(sql))
  const write = openWrites(db)
  const tidy = () => emptyAbandonedLog(db, path)
  const tidying = background.start('empty-write-ahead-log', async () => tidy())
  const damage = openDamageList(logDamage(log), openMarkFiles(path))
  const tableCheck = openTableCheck(path)
  // The scan reads everything, so its small cache must not be that of the readers.
  let scanned: DatabaseSync | undefined
  const reads = openReads(db)
  const puts = openPutConnection(path)
  // A read between two statements of a transaction would see what is not committed.
  const prunes = openOnce(() => {
    const writer = openWithin(path, 0, { creates: 'never' })
    return { transact: openTransactions(writer), close: async () => writer.close() }
  })
  const rows = storedRows(() => {
    scanned ??= openWithin(path, 0, { creates: 'never' })
    return scanned
  })
  const tables = { run: tableCheck.run, shared: sharedTables, of: tablesOf }
  const scan = openDamageScan(resources, rows, damage, tables)
  const operator: OperatorRecords = {
    beginLoad: (resource, options) => beginImport(path, resource, { clock, ...options }),
    async *exportLines(resource, customerId) {
      yield* exportLines(db, resource, customerId)
    },
    put: openPutRecords(puts, clock),
    ...openHistory({
      ...reads,
      transact: (work, deadline) => prunes.open().transact(work, deadline),
      dialect,
    }),
    answers: openKeptAnswers(reads, dialect, clock),
    async count(resource) {
      return Number(
        cached(
          `select count(*) as n from ${resource.table} as record where ${isCurrent(resource, 'record')}`,
        ).get()?.n,
      )
    },
    rows,
    journal: (entriesMax) => readJournal(reads, dialect, entriesMax),
    clear: () =>
      write(() => {
        for (const table of [
          ...recordTables,
          ...historyTables,
          'origin',
          'kept_answer',
          'import_journal',
        ])
          db.exec(`delete from ${table}`)
        // The next page of each kind must not have the entity tag of a page from before.
        db.exec('update revision set changed_at = changed_at + 1')
      }),
  }
  return {
    customers: verifiedRecords(customerRecords(cached, openReadInTurn(db)), damage),
    operator: verifiedOperator(operator, damage),
    damage: scan,
    async ping() {
      cached('select 1 from fiat_account limit 1').get()
    },
    servers: () => [],
    integrityFaults: async () => {
      const faults = integrityFaults(db)
      // Sets and ends the marks of the kinds, which the faults do not name.
      await scan.checkTables()
      return faults
    },
    close: async () => {
      tidying.stop()
      await tableCheck.close()
      // An export may have kept an import from emptying the log.
      tidy()
      puts.close()
      scanned?.close()
      await prunes.close()
      db.close()
    },
  }
}

function* exportLines(
  db: DatabaseSync,
  resource: Resource,
  customerId: string | undefined,
): Iterable<string> {
  const parameter = customerId === undefined ? undefined : '?'
  const values = customerId === undefined ? [] : [customerId]
  const { tableName } = dialect
  try {
    if (resource.mask !== undefined) {
      const unlisted = prepare(db, unlistedQuery(resource, tableName, parameter)).get(...values)
      refuseUnlisted(resource, unlisted?.id)
    }
    const rows = prepare(db, exportQuery(resource, tableName, parameter)).iterate(...values)
    for (const row of rows) {
      yield exportLine(resource, readStoredRecord(row))
    }
  } catch (error) {
    throw failureOf(error)
  }
}
