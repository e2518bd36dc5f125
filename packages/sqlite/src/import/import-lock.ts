import { randomInt } from 'node:crypto'
import { rmSync } from 'node:fs'
import { attempt } from '@bursar/base'
import { type ImportLock, LOCK_NUMBER_END, NothingChanged } from '@bursar/records'
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
