import { openBackground } from '../../background.ts'
import type { Clock } from '../../platform/clock.ts'
import { openLog } from '../../platform/log.ts'
import { openOnce } from '../../platform/open-once.ts'
import { resources } from '../../resources/catalogue.ts'
import { openDamageList } from '../integrity/damage.ts'
import { logDamage, openDamageScan } from '../integrity/damage-scan.ts'
import { intactOperator } from '../integrity/intact-operator.ts'
import { intactRecords } from '../integrity/intact-records.ts'
import { storedRows } from '../integrity/stored-rows.ts'
import { readJournal } from '../merge/journal.ts'
import { openKeptAnswers } from '../merge/kept-answers.ts'
import { openPutRecords } from '../merge/put-queue.ts'
import { clearRecords, countRecords, exportLines } from '../records/all-records.ts'
import type { OperatorRecords, Store } from '../records.ts'
import { sharedTables, tablesOf } from '../schema/tables.ts'
import type { Reads, Transact } from '../session.ts'
import { openHistory } from '../versions/open-history.ts'
import { guarded, integrityFaults, openFurther } from './database.ts'
import { dialect } from './dialect.ts'
import { emptyAbandonedLog } from './import/disk-space.ts'
import { beginImport } from './import/import-connection.ts'
import { openPutConnection } from './import/put-connection.ts'
import { openTransactions } from './locks.ts'
import { openMigrated } from './migrate.ts'
import { customerRecords } from './records/customer-records.ts'
import { openReadInTurn } from './records/read-in-turn.ts'
import { openReads, statementCache } from './session.ts'
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
  const tidy = () => emptyAbandonedLog(db, path)
  const tidying = background.start('empty-write-ahead-log', async () => tidy())
  const damage = openDamageList(logDamage(log), openMarkFiles(path))
  const tableCheck = openTableCheck(path)
  // The scan reads everything, so its small cache must not be that of the readers.
  const scanned = openOnce(() => openApart(path))
  const reads = openReads(db)
  const puts = openPutConnection(path)
  // A read between two statements of a transaction would see what is not committed.
  const writer = openOnce(() => openApart(path))
  const transact: Transact = async (work, deadline) =>
    guarded(() => writer.open()).transact(work, deadline)
  const scanning: Reads = {
    rows: async (statement) => guarded(() => scanned.open()).rows(statement),
  }
  const rows = storedRows(scanning, dialect)
  const tables = { run: tableCheck.run, shared: sharedTables, of: tablesOf }
  const scan = openDamageScan(resources, rows, damage, tables)
  const operator: OperatorRecords = {
    beginLoad: (resource, options) => beginImport(path, resource, { clock, ...options }),
    exportLines: (resource, customerId) => exportLines(reads, dialect, resource, customerId),
    put: openPutRecords(puts, clock),
    ...openHistory({ ...reads, transact, dialect }),
    answers: openKeptAnswers(reads, dialect, clock),
    count: (resource) => countRecords(reads, dialect, resource),
    rows,
    journal: (entriesMax) => readJournal(reads, dialect, entriesMax),
    clear: () => clearRecords(transact, dialect, ['origin', 'kept_answer', 'import_journal']),
  }
  return {
    customers: intactRecords(customerRecords(cached, openReadInTurn(db)), damage),
    operator: intactOperator(operator, damage),
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
      await scanned.close()
      await writer.close()
      db.close()
    },
  }
}

/** A connection that shares neither the cache nor the transactions of the readers. */
function openApart(path: string) {
  const db = openFurther(path)
  return { ...openReads(db), transact: openTransactions(db), close: async () => db.close() }
}
