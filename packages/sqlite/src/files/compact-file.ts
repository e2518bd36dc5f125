import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { freeBytesOf, systemTime } from '@bursar/base'
import { recordsLimits, StoreUnavailable } from '@bursar/records'
import { guarded, openDatabase, refuseLocked } from '../database.ts'
import { sqliteLimits } from '../limits.ts'

/** The new file goes to the write-ahead log first, and before that to a temporary file. */
const COPIES = 2

/**
 * Writes a database anew without what was deleted from it, and empties its write-ahead log. Readers
 * go on meanwhile; writers wait. Returns the bytes before and after.
 */
export async function compactFile(path: string): Promise<{ before: number; after: number }> {
  const before = bytesOf(path)
  const free = freeBytesOf(dirname(path))
  if (free < before * COPIES) {
    throw new StoreUnavailable(
      `to compact ${path} takes ${megabytes(before * COPIES)} of free disk space in its folder, which has ${megabytes(free)}; nothing was changed; free some, then run it again`,
    )
  }
  using db = openDatabase(path)
  refuseLocked(path, () => guarded(() => db.exec('vacuum')))
  const deadline = systemTime.elapsedMs() + recordsLimits.storeLockWaitMs
  while (db.prepare('pragma wal_checkpoint(truncate)').get()?.busy !== 0) {
    if (systemTime.elapsedMs() >= deadline) {
      throw new StoreUnavailable(
        `${path} is written anew, but its write-ahead log still has deleted bytes, because a reader such as an export needs it; run this again when that has ended`,
      )
    }
    await systemTime.pause(sqliteLimits.storeRetryMsMax)
  }
  return { before, after: bytesOf(path) }
}

const bytesOf = (path: string): number =>
  [path, `${path}-wal`].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
