import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { limitsOf, systemTime } from '@bursar/base'
import { sqliteLimits } from '../limits.ts'

const limits = limitsOf({
  /** How long an import tries to empty the write-ahead log. */
  storeLogEmptiedMs: 2000,
})

/**
 * Moves the write-ahead log into the database and gives its space back. Returns false if it could
 * not, because another process writes, or reads what was there before the last write.
 */
export function emptyLog(db: DatabaseSync): boolean {
  try {
    return db.prepare('pragma wal_checkpoint(truncate)').get()?.busy === 0
  } catch {
    // The disk is full or fails. What was committed stays in the log.
    return false
  }
}

/** Empties the log after an import, or gives up after a while: the import itself has ended. */
export async function emptyLogSoon(db: DatabaseSync): Promise<void> {
  const deadline = systemTime.elapsedMs() + limits.storeLogEmptiedMs
  while (!emptyLog(db) && systemTime.elapsedMs() < deadline)
    await systemTime.pause(sqliteLimits.storeRetryMsMax)
}

/**
 * Whether a killed import, or one beside a long export, has left a log behind that can be emptied
 * within a few milliseconds.
 */
export function hasAbandonedLog(db: DatabaseSync, path: string): boolean {
  try {
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
    if (log === undefined || log.size <= sqliteLimits.storeLogBytesMax) return false
    const state = db.prepare('pragma wal_checkpoint(noop)').get()
    const pagesToMove = Number(state?.log) - Number(state?.checkpointed)
    return pagesToMove <= PAGES_MOVED_AT_ONCE
  } catch {
    // The next attempt may succeed. Reads report a store that has failed.
    return false
  }
}

/** As many as SQLite itself moves at a commit. */
const PAGES_MOVED_AT_ONCE = 1000
