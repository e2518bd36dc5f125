import { DatabaseSync } from 'node:sqlite'
import { limits } from '../../../platform/limits.ts'
import { isBusy } from '../database.ts'

/** Finds out whether a database can be written, over a separate connection. */
export type WriteProbe = {
  /** Why it cannot, as a sentence. Undefined if it can. */
  fault(now: number): string | undefined
  close(): void
}

/**
 * Each look takes the write lock for some microseconds and waits for nobody. A page is written only
 * now and then, and at each look after a failure: that finds quotas and faults of the disk. The
 * page need not survive a power cut, so the connection does not wait for the disk.
 */
export function openWriteProbe(path: string): WriteProbe {
  const db = new DatabaseSync(path, { timeout: 0 })
  db.exec('pragma synchronous = normal')
  const waiting = openLockWait(db)
  let writtenAt = Number.NEGATIVE_INFINITY
  const look = (now: number): void => {
    db.exec('begin immediate')
    if (now - writtenAt < limits.storeWriteProbeMs) {
      db.exec('rollback')
      return
    }
    const { user_version: version } = db.prepare('pragma user_version').get() ?? {}
    // Writes the first page, unchanged.
    db.exec(`pragma user_version = ${Number(version)}; commit`)
    writtenAt = now
  }
  return {
    fault: (now) => {
      try {
        look(now)
        waiting.end()
        return undefined
      } catch (error) {
        if (db.isTransaction) db.exec('rollback')
        if (isBusy(error)) return waiting.fault(now, path)
        writtenAt = Number.NEGATIVE_INFINITY
        return `${path} cannot be written: ${error instanceof Error ? error.message : 'unknown'}`
      }
    },
    close: () => db.close(),
  }
}

/** A lock is a fault once it lasts. Others that write one after another show a new data version. */
function openLockWait(db: DatabaseSync) {
  let since: number | undefined
  let seen: unknown
  const dataVersion = (): unknown => {
    try {
      return db.prepare('pragma data_version').get()?.data_version
    } catch (error) {
      if (isBusy(error)) return seen
      throw error
    }
  }
  return {
    fault: (now: number, path: string): string | undefined => {
      const version = dataVersion()
      if (since === undefined || version !== seen) since = now
      seen = version
      const seconds = Math.floor((now - since) / 1000)
      if (now - since < limits.storeLockedMs) return undefined
      return `another process has held the lock of ${path} for ${seconds} s; end it, or wait`
    },
    end: () => {
      since = undefined
    },
  }
}
