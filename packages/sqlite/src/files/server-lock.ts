import { StoreServed } from '@bursar/records'
import { holdLock, isLocked, lockBeside } from './file-lock.ts'
import type { StorePaths } from './require-files.ts'

/**
 * Locks an embedded store for the one process that serves it. Commands work beside it. Throws a
 * StoreServed while another process serves the store. Returns what ends the lock.
 */
export function holdServing(paths: StorePaths): () => void {
  const release = holdLock(lockOf(paths))
  if (release === undefined) throw new StoreServed(paths.records)
  return release
}

/** Whether a process serves an embedded store. */
export const isServed = (paths: StorePaths): boolean => isLocked(lockOf(paths))

const lockOf = ({ records }: StorePaths): string => lockBeside(records, 'server-lock')
