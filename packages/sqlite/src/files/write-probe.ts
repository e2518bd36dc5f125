import { limitsOf, systemTime } from '@bursar/base'
import { type Session, type Transact, whole } from '@bursar/records'
import { isBusy } from '../database.ts'

const limits = limitsOf({
  /** Pause between two written pages that test the disk, while all is well: 23 MB a day. */
  storeWriteProbeMs: 30_000,
  /** How long the test waits for a lock at each look. */
  storeWriteProbeWaitMs: 50,
  /** A lock of the credentials that lasts longer is a fault. A commit takes some 10 ms. */
  storeLockedMs: 3000,
})

/** Resolves with why a database cannot be written, as a sentence. Undefined if it can. */
export type WriteProbe = () => Promise<string | undefined>

/**
 * Finds out over the writer of a server whether its database can be written. Each probe takes the
 * lock of a transaction for some microseconds. A page is written only now and then, and by each
 * probe after a failure: that finds quotas and faults of the disk.
 */
export function openWriteProbe(path: string, transact: Transact): WriteProbe {
  let writtenAt = Number.NEGATIVE_INFINITY
  let lockedSince: number | undefined
  return async () => {
    const now = systemTime.elapsedMs()
    const isWriting = now - writtenAt >= limits.storeWriteProbeMs
    try {
      // Other writes wait behind the probe, so it does not wait for a lock that lasts. Others that
      // take the lock in turn leave moments between.
      await transact(async (session) => {
        if (isWriting) await writeFirstPage(session)
      }, now + limits.storeWriteProbeWaitMs)
      if (isWriting) writtenAt = now
      lockedSince = undefined
      return undefined
    } catch (error) {
      writtenAt = Number.NEGATIVE_INFINITY
      const { message, cause } = error instanceof Error ? error : new Error('unknown')
      if (!isBusy(cause)) return `${path} cannot be written: ${message}`
      lockedSince ??= now
      const lockedMs = systemTime.elapsedMs() - lockedSince
      if (lockedMs < limits.storeLockedMs) return undefined
      const seconds = Math.floor(lockedMs / 1000)
      return `another process has held the lock of ${path} for ${seconds} s; end it, or wait`
    }
  }
}

/** Leaves it as it is. */
async function writeFirstPage({ rows, run }: Session): Promise<void> {
  const [row = {}] = await rows({ text: 'pragma user_version' })
  await run(`pragma user_version = ${whole(row, 'user_version')}`)
}
