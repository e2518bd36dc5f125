import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { guarded, isBusy, restoreMarker } from '../database.ts'
import { type DatabaseCopy, leaveWal } from './snapshot.ts'

/**
 * Moves databases to the places of a store. A marker beside each of them keeps others from opening
 * the store until all have arrived. Returns false if another process uses the store, and changes
 * nothing then.
 */
export function replaceFiles(copies: readonly DatabaseCopy[]): boolean {
  // Only the database files move. What is in a WAL, such as the recovery, would be lost.
  for (const { from } of copies) mergeWal(from)
  const markers = copies.map(({ to }) => restoreMarker(to))
  // An interrupted restore has left its markers, and nobody has opened the store since.
  const wasInterrupted = markers.some((marker) => existsSync(marker))
  for (const marker of markers) writeFileSync(marker, '', { mode: 0o600 })
  syncFolders(copies)
  if (copies.some(({ to }) => isInUse(to))) {
    if (!wasInterrupted) removeAll(markers)
    return false
  }
  for (const { from, to } of copies) {
    syncPath(from)
    // The WAL of the replaced database does not fit the new one.
    removeAll([`${to}-wal`, `${to}-shm`])
    renameSync(from, to)
  }
  syncFolders(copies)
  removeAll(markers)
  return true
}

function mergeWal(path: string): void {
  using db = new DatabaseSync(path)
  guarded(() => leaveWal(db, path))
}

/**
 * Whether another process has the database open. SQLite leaves WAL mode only if nobody does. A
 * damaged file cannot tell, and a restore may replace it.
 */
function isInUse(path: string): boolean {
  if (!existsSync(path)) return false
  try {
    using db = new DatabaseSync(path, { timeout: 0 })
    return db.prepare('pragma journal_mode = delete').get()?.journal_mode !== 'delete'
  } catch (error) {
    return isBusy(error)
  }
}

const removeAll = (paths: readonly string[]) => {
  for (const path of paths) rmSync(path, { force: true })
}

const syncFolders = (copies: readonly DatabaseCopy[]) => {
  if (process.platform === 'win32') return
  for (const folder of new Set(copies.map(({ to }) => dirname(to)))) syncPath(folder)
}

function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
