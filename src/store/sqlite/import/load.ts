import type { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../../contract/resource.ts'
import type { Clock } from '../../../platform/clock.ts'
import { limits } from '../../../platform/limits.ts'
import { joinFaults, noFaults } from '../../found-faults.ts'
import type { RecordLoad } from '../../records/import.ts'
import { conflictQueries } from '../../sql/import/conflict-queries.ts'
import { CHANGED_MEANWHILE } from '../../sql/import/known-lines.ts'
import { hasRepeats, refused } from '../../sql/staging.ts'
import { openWithin } from '../database.ts'
import { dialect } from '../dialect.ts'
import { retryWhileLocked } from '../locks.ts'
import { inTransaction } from '../migrate.ts'
import {
  emptyLog,
  emptyLogSoon,
  type FreeBytes,
  freeBytesOf,
  spaceFor,
  tellFullDisk,
} from './disk-space.ts'
import { openKnownLines } from './known-lines.ts'
import { faultsOf, mergeStaged, rejectConflicts } from './merge-staged.ts'
import { createStagingTable } from './staging-table.ts'

type LoadDeps = {
  readonly clock: Clock
  /** The size of the file, if it is known before it is read. */
  readonly fileBytes?: number | undefined
  readonly freeBytes?: FreeBytes
  /** Requests wait while the log is emptied, so a server leaves that to its commits. */
  readonly isInServer?: boolean
  readonly lockWaitMs?: number
}

/**
 * Imports one file over a temporary table on disk: memory use stays flat, reading the file takes no
 * lock, and a killed import leaves nothing behind. `merge` does the rest in one transaction.
 */
export async function openLoad(
  path: string,
  resource: Resource,
  deps: LoadDeps,
): Promise<RecordLoad> {
  const { clock, fileBytes = 0, freeBytes = freeBytesOf, isInServer = false } = deps
  const { lockWaitMs = limits.storeLockWaitMs } = deps
  const locked = `another process, such as an import, has written ${path} for ${lockWaitMs / 1000} s; nothing was changed; wait until it has ended, then run this again`
  const afterOthers = <T>(work: () => T) =>
    retryWhileLocked(work, performance.now() + lockWaitMs, locked)
  const db = await afterOthers(() => openStaging(path))
  const space = checkSpace(db, isInServer ? () => {} : emptyLog, () =>
    spaceFor(path, fileBytes, freeBytes),
  )
  let hasMerged = false
  const stageRow = createStagingTable(db, resource)
  const conflicts = conflictQueries(resource, dialect)
  const known = closingOnError(db, () => openKnownLines(db, path, resource))
  db.exec('begin')
  return {
    ...known.methods,
    stage(record) {
      tellFullDisk(STAGING, () => stageRow(record))
      space.add(record)
      return undefined
    },
    async check(options) {
      const repeats = endStaging(db)
      const { withinFile, withStore } = conflicts
      return faultsOf(db, [...withinFile(repeats), ...known.conflicts(), ...withStore(options)])
    },
    async merge(options) {
      const { reject } = options
      const repeats = endStaging(db)
      const withinFile = [...conflicts.withinFile(repeats), ...known.conflicts()]
      const withStore = conflicts.withStore(options)
      // Before it locks the store, unless what is stored decides which record is rejected.
      const within = reject === undefined ? faultsOf(db, withinFile) : noFaults
      if (within.faultCount > 0) return refused(joinFaults([within, faultsOf(db, withStore)]))
      const merge = () => {
        if (known.areChanged()) return refused({ faults: [CHANGED_MEANWHILE], faultCount: 1 })
        const stored = reject === undefined ? faultsOf(db, withStore) : noFaults
        if (stored.faultCount > 0) return refused(stored)
        const all = [...withinFile, ...withStore]
        const rejected = reject === undefined ? 0 : rejectConflicts(db, all, reject)
        hasMerged = true
        return mergeStaged(db, resource, {
          ...options,
          now: clock(),
          space,
          rejected,
          repeats,
        })
      }
      const place = `the disk of ${path}`
      return afterOthers(() => tellFullDisk(place, () => inTransaction(db, merge)))
    },
    async close() {
      if (!db.isOpen) return
      known.close()
      // A merge that filled the disk must not leave its log there.
      if (hasMerged && !isInServer) await emptyLogSoon(db)
      db.close()
    },
  }
}

/** A killed import may have left a long log, so that is emptied first: its space counts as free. */
function checkSpace<T>(db: DatabaseSync, empty: (db: DatabaseSync) => unknown, check: () => T): T {
  return closingOnError(db, () => {
    empty(db)
    return check()
  })
}

function closingOnError<T>(db: DatabaseSync, work: () => T): T {
  try {
    return work()
  } catch (error) {
    db.close()
    throw error
  }
}

/** SQLite's rule for temporary files, where an import stages its records. */
const STAGING = 'the disk of temporary files (SQLITE_TMPDIR, TMPDIR or /var/tmp)'

/** Opens a connection for one import: temporary tables and transactions belong to a connection. */
function openStaging(path: string): DatabaseSync {
  // The sandbox imports in a server, so nothing waits inside SQLite.
  const db = openWithin(path, 0, { creates: 'never' })
  // The cache bounds the memory of sorts. With the default of 2 MB a merge takes twice as long.
  db.exec('pragma temp_store = file; pragma cache_size = -20000')
  return db
}

/** Once every record is staged. Returns whether an id is staged twice. */
function endStaging(db: DatabaseSync): boolean {
  db.exec('commit')
  tellFullDisk(STAGING, () => db.exec('create index temp.staged_by_id on staged (id)'))
  return db.prepare(hasRepeats).get()?.has_repeats === 1
}
