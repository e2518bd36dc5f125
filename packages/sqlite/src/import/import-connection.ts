import type { DatabaseSync } from 'node:sqlite'
import { type Clock, freeBytesOf, limitsOf, turn } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import {
  createImportStaging,
  indexStaged,
  type LoadOptions,
  loadRecords,
  mergeInOrder,
  type RecordLoad,
  type Seals,
  type Session,
  type StagedValue,
  type Staging,
  type StagingArea,
  stagingOf,
} from '@bursar/records'
import { openFurther } from '../database.ts'
import { dialect } from '../dialect.ts'
import { emptyLog, emptyLogSoon } from '../files/write-ahead-log.ts'
import { transact } from '../locks.ts'
import { insertInto, openSession } from '../session.ts'
import { afterMerges } from './after-merges.ts'
import { failedWrite, spaceFor } from './disk-space.ts'

const limits = limitsOf({
  /** New rows of an empty table from which building its indexes afterwards pays. */
  indexesBuiltAfterRowsMin: 10_000,
})

type ImportDeps = LoadOptions & {
  readonly clock: Clock
  readonly seals: Seals
  readonly freeBytes?: (folder: string) => number
}

/**
 * Imports one file over a temporary table on disk: memory use stays flat, reading the file takes no
 * lock, and a killed import leaves nothing behind. `merge` does the rest in one transaction.
 */
export async function beginImport(
  path: string,
  resource: Resource,
  deps: ImportDeps,
): Promise<RecordLoad> {
  const { clock, seals, nameLine } = deps
  const area = await openArea(path, resource, deps)
  return await loadRecords({ area, dialect, clock, seals, nameLine }, resource)
}

async function openArea(
  path: string,
  resource: Resource,
  { fileBytes = 0, freeBytes = freeBytesOf, isInServer = false, signal }: ImportDeps,
): Promise<StagingArea> {
  const db = await afterMerges(path, signal, () => openStaging(path))
  using opened = new DisposableStack()
  opened.defer(() => db.close())
  // A killed import may have left a long log, whose space counts as free. Requests wait while the
  // log is emptied, so a server leaves that to its commits.
  if (!isInServer) emptyLog(db)
  const space = spaceFor(path, fileBytes, freeBytes)
  const staging = stagingOf(resource, dialect)
  db.exec(createImportStaging(staging, dialect))
  const insert = openInsert(db, staging)
  const session = turningAfterEach(openSession(db))
  let hasMerged = false
  db.exec('begin')
  opened.move()
  return {
    stage: (row, record) => {
      describingFaults(() => insert(row))
      space.add(record)
      return undefined
    },
    withStaged: (work, onStep) => {
      onStep?.('checking')
      db.exec('commit')
      describingFaults(() => db.exec(indexStaged))
      const write = <T>(merge: () => Promise<T>) =>
        transact(db, merge).catch((error) => {
          throw failedWrite(`the disk of ${path}`, error)
        })
      return work({
        session,
        locked: ({ add, ...steps }) => {
          onStep?.('store_lock')
          return afterMerges(path, signal, () =>
            write(async () => {
              onStep?.('checking')
              return await mergeInOrder({ ...steps, lock: add })
            }),
          )
        },
        storing: async ({ added, written }, store) => {
          space.requireForMerge(written)
          hasMerged = true
          await buildingIndexes(db, resource.table, added, store)
        },
      })
    },
    close: async () => {
      if (!db.isOpen) return
      // A merge that filled the disk must not leave its log there.
      if (hasMerged && !isInServer) await emptyLogSoon(db)
      db.close()
    },
  }
}

/** Opens a connection for one import: temporary tables and transactions belong to a connection. */
function openStaging(path: string): DatabaseSync {
  // The sandbox imports in a server, so nothing waits inside SQLite.
  const db = openFurther(path)
  // The cache bounds the memory of sorts. With the default of 2 MB a merge takes twice as long.
  db.exec('pragma temp_store = file; pragma cache_size = -20000')
  // A page of 4 KB holds one staged account, and most of the page stays empty.
  db.exec('pragma temp.page_size = 16384')
  return db
}

/** A process that imports learns between two statements that it is to end. */
const turningAfterEach = ({ rows, run, ...session }: Session): Session => ({
  ...session,
  rows: async (statement) => {
    const found = await rows(statement)
    await turn()
    return found
  },
  run: async (text) => {
    await run(text)
    await turn()
  },
})

/** Adds a row at a time, because the rows of an import come one after the other. */
function openInsert(db: DatabaseSync, staging: Staging) {
  const insert = db.prepare(insertInto(staging))
  return (row: readonly StagedValue[]) => {
    insert.run(...row)
  }
}

function describingFaults(work: () => void): void {
  try {
    work()
  } catch (error) {
    throw failedWrite(STAGING, error)
  }
}

/** SQLite's rule for temporary files, where an import stages its records. */
const STAGING = 'the disk of temporary files (SQLITE_TMPDIR, TMPDIR or /var/tmp)'

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
  insert: () => Promise<unknown>,
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
