import { type Clock, limitsOf, type Metrics, openBackground, openLog, openOnce } from '@bursar/base'
import { resources } from '@bursar/contract'
import {
  createPutStaging,
  indexStaged,
  openRecords,
  openSeals,
  type PutLocks,
  type PutTransactions,
  recordsLimits,
  type Sealing,
  type Store,
  stagingOfAll,
  type Transact,
} from '@bursar/records'
import { guarded, integrityFaults, openFurther } from './database.ts'
import { dialect } from './dialect.ts'
import { emptyLog, hasAbandonedLog } from './files/write-ahead-log.ts'
import { transactAfterMerges } from './import/after-merges.ts'
import { beginImport } from './import/import-connection.ts'
import { isLockHeld, openImportLock } from './import/import-lock.ts'
import { openMigrated } from './migrate.ts'
import { customerRecords } from './records/customer-records.ts'
import { changesOf } from './records/look-for-changes.ts'
import { openReadInTurn } from './records/read-in-turn.ts'
import { openReads, statementCache } from './session.ts'
import { openThreadWriter } from './thread/file-writer.ts'

const limits = limitsOf({
  /** Pages of the write-ahead log after which single records are moved to their file: 32 MB. */
  putLogPages: 4000,
  /**
   * Pages of the embedded store that a process keeps: the upper levels of every index. The rest is
   * in the system's cache, which follows the memory that is free. To keep pages in both gains
   * nothing (decision 4).
   */
  storeCacheBytes: 16 * 1024 * 1024,
})

/** The records in one SQLite file. Credentials have another, so an import does not block them. */
export function openSqliteStore(
  path: string,
  clock: Clock,
  sealing: Sealing,
  log = openLog('silent'),
  background = openBackground(),
  metrics?: Metrics,
): Store {
  const db = openMigrated(path, 'records')
  db.exec(`pragma cache_size = ${-limits.storeCacheBytes / 1024}`)
  db.function('import_lock_is_held', (number) => (isLockHeld(path, Number(number)) ? 1 : 0))
  const cached = statementCache((sql) => db.prepare(sql))
  const tidying = background.start('empty-write-ahead-log', async () => {
    if (hasAbandonedLog(db, path)) await writer.open().emptyLog()
  })
  // The walk reads everything, so its small cache must not be that of the readers.
  const walked = openOnce(() => openApart(path))
  // A read between two statements of a transaction would see what is not committed.
  const writer = openOnce(() => openWriter(path, clock))
  const reads = openReads(db)
  const transact: Transact = async (work, deadline) =>
    guarded(() => writer.open()).transact(work, deadline)
  const ofTenant = () => reads
  const seals = openSeals({ ...sealing, dialect, clock, ofTenant, transact, metrics })
  const records = openRecords({
    dialect,
    seals,
    sealing,
    clock,
    log,
    metrics,
    customers: customerRecords(db, cached, openReadInTurn(db)),
    ofTenant,
    changes: changesOf(cached, reads),
    background,
    requests: { ...reads, transact },
    commands: { ...reads, transact },
    walking: { rows: async (statement) => guarded(() => walked.open()).rows(statement) },
    readSnapshot: (read) => read(reads),
    puts: putsOver(() => writer.open().transact),
    beginLoad: (resource, options) => beginImport(path, resource, { clock, seals, ...options }),
    cleared: ['origin', 'import'],
    imports: { lock: openImportLock(path), transact: transactAfterMerges(path, transact) },
  })
  return {
    ...records,
    async ping() {
      cached('select 1 from fiat_account limit 1').get()
    },
    servers: () => [],
    integrityFaults: async () => integrityFaults(db),
    close: async () => {
      records.customers.changes.stop()
      records.imports.close()
      tidying.stop()
      // An export may have kept an import from emptying the log.
      if (hasAbandonedLog(db, path)) emptyLog(db)
      await walked.close()
      await writer.close()
      db.close()
    },
  }
}

/** A connection that does not share the cache of the readers. */
function openApart(path: string) {
  const db = openFurther(path)
  return { ...openReads(db), close: async () => db.close() }
}

/** A connection that keeps the staging tables of single records. */
function openWriter(path: string, clock: Clock) {
  // The staging table holds one batch, so it needs no disk. Records lie all over the file, so a
  // short log would be copied to it after every commit.
  const setup = `pragma temp_store = memory;
    pragma wal_autocheckpoint = ${limits.putLogPages};
    ${createPutStaging(stagingOfAll(resources, dialect), dialect)}; ${indexStaged}`
  return openThreadWriter(path, { clock, setup })
}

const putsOver = (transact: () => Transact): PutTransactions => ({
  dialect,
  waitMs: recordsLimits.recordPutMs,
  weightPerKeyMax: recordsLimits.recordsPerTurnMax,
  // SQLite has one writer.
  runningMax: 1,
  // A merge holds the lock for seconds, so a record that waits for it is refused before long.
  transact: (_resource, work, { deadline }) =>
    transact()(
      (session) => work({ session, locks: noLocks }),
      deadline - recordsLimits.recordPutMs + recordsLimits.recordLockedMs,
    ),
})

/** The transaction of a writer is the only one. */
const noLocks: PutLocks = {
  customers: async () => new Set(),
  hasNew: () => true,
  others: async () => {},
}
