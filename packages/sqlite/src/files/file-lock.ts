import { existsSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { makePrivateFile } from '@bursar/base'
import { describingExhaustion, failureOf, isBusy } from '../database.ts'
import { besidePath } from './require-files.ts'

/** The path of a lock beside a file, to which a path may lead over links. */
export const lockBeside = (path: string, ending: string): string =>
  besidePath(existsSync(path) ? realpathSync(path) : path, ending)

/**
 * Locks a file, which has nothing but the lock, until the lock is released or the process ends. The
 * system releases it, however the process ends. A row with a heartbeat would last until it expires,
 * and the id of a process means nothing in another container. Undefined if the lock is held.
 */
export function holdLock(path: string): (() => void) | undefined {
  makePrivateFile(path)
  const db = describingExhaustion(() => openLock(path))
  if (begins(db)) return () => db.close()
  db.close()
  return undefined
}

/** Whether any process holds the lock of a file. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false
  using db = describingExhaustion(() => openLock(path))
  return !begins(db)
}

const openLock = (path: string) => new DatabaseSync(path, { timeout: 0 })

/** The open transaction is the lock. Nothing is written, so it needs no journal beside it. */
function begins(db: DatabaseSync): boolean {
  try {
    db.exec('pragma journal_mode = memory; begin exclusive')
    return true
  } catch (error) {
    if (isBusy(error)) return false
    db.close()
    throw failureOf(error)
  }
}
