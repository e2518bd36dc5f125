import { randomInt } from 'node:crypto'
import { rmSync } from 'node:fs'
import { attempt, systemTime } from '@bursar/base'
import {
  type ImportLock,
  LOCK_NUMBER_END,
  NothingChanged,
  recordsLimits,
  type Transact,
  type WaitingTransact,
} from '@bursar/records'
import { holdLock, isLocked, lockBeside } from '../files/file-lock.ts'

const lockFile = (path: string, number: number): string => lockBeside(path, `import-${number}.lock`)

/**
 * A file that is not locked is left of a process that was killed. Of one that cannot be opened, as
 * that of another user, this process cannot tell.
 */
export function isLockHeld(path: string, number: number): boolean {
  const file = lockFile(path, number)
  if (attempt(() => isLocked(file)) ?? true) return true
  attempt(() => rmSync(file, { force: true }))
  return false
}

/** A locked file beside the store, for as long as imports of this process run. */
export function openImportLock(path: string): ImportLock {
  let held: { readonly number: number; readonly release: () => void } | undefined
  return {
    hold: async () => {
      if (held !== undefined) return held.number
      const number = randomInt(LOCK_NUMBER_END)
      const file = lockFile(path, number)
      const end = holdLock(file)
      if (end === undefined) throw new NothingChanged(`another process has locked ${file}`)
      const release = () => {
        end()
        rmSync(file, { force: true })
      }
      held = { number, release }
      return number
    },
    release: () => {
      held?.release()
      held = undefined
    },
  }
}

/** The pause between two attempts to write a row of an import while a merge holds the file. */
const PAUSE_MS = 50

/**
 * Waits for a merge of another process as long as a merge does. Each attempt asks for the lock
 * once, so that single records, which share the connection, are not kept behind it.
 */
export const afterMerges =
  (transact: Transact): WaitingTransact =>
  async (work, signal) => {
    const deadline = systemTime.elapsedMs() + recordsLimits.storeLockWaitMs
    for (;;) {
      signal?.throwIfAborted()
      try {
        return await transact(work, systemTime.elapsedMs())
      } catch (error) {
        if (!(error instanceof NothingChanged) || systemTime.elapsedMs() >= deadline) throw error
      }
      await systemTime.pause(PAUSE_MS)
    }
  }
