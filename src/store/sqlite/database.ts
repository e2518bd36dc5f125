import { existsSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { limits } from '../../platform/limits.ts'
import { makePrivateFile, requirePrivate } from '../../platform/machine/private-files.ts'
import { StoreCorrupted, StoreUnavailable } from '../unavailable.ts'
import { refuseHalfRestored } from './backup/restore-marker.ts'
import { exhaustionOf } from './files/describe-exhaustion.ts'

/** Opens a database for a process that starts. It may wait, because it serves nobody yet. */
export const openDatabase = (path: string): DatabaseSync =>
  refuseLocked(path, () => openWithin(path, limits.storeLockWaitMs))

/** `never` is for a further connection, which must not put an empty file where one vanished. */
type Creation = { readonly creates: 'if-missing' | 'never' }

/**
 * Opens or creates a database file, with mode 0600 because it holds account numbers or keys. Throws
 * a ConfigError for one that others can read. WAL lets readers run beside a writer. With
 * `synchronous = full`, a commit survives a power cut. Each statement waits so long for a lock, and
 * blocks the process meanwhile.
 */
export function openWithin(
  path: string,
  lockWaitMs: number,
  { creates }: Creation = { creates: 'if-missing' },
): DatabaseSync {
  if (path !== ':memory:') refuseHalfRestored(path)
  // SQLite copies the mode of the file to its WAL, so the file is created with it here.
  if (creates === 'if-missing') makePrivateFile(path)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) requirePrivate(file)
  const options = { timeout: lockWaitMs }
  const db = creates === 'never' ? openExisting(path, options) : new DatabaseSync(path, options)
  try {
    // A page of 8 KB holds a record without overflow pages. Its size is set before the first table.
    db.exec(`
      pragma page_size = 8192;
      pragma journal_mode = wal;
      pragma synchronous = full;
      pragma trusted_schema = off;
      pragma journal_size_limit = ${limits.storeLogBytesMax}`)
    return db
  } catch (error) {
    db.close()
    throw exhaustionOf(error) ?? error
  }
}

/** SQLite itself refuses a missing file, so none can vanish between a check and the opening. */
function openExisting(path: string, options: { readonly timeout: number }): DatabaseSync {
  const url = pathToFileURL(path)
  url.searchParams.set('mode', 'rw')
  try {
    return new DatabaseSync(url, options)
  } catch (error) {
    if (existsSync(path)) throw failureOf(error)
    throw new StoreUnavailable(`${path} is missing`, { cause: error })
  }
}

/** Runs the work of a command or a start. A wait in vain, or too few descriptors, is told. */
export function refuseLocked<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isBusy(error)) throw exhaustionOf(error) ?? error
    throw new StoreUnavailable(
      `another process, such as an import, has locked ${path} for ${limits.storeLockWaitMs / 1000} s; wait until it has ended, then run this again`,
      { cause: error },
    )
  }
}

/** Prepares a statement with parameters `$1`, `$2`, … It reads whole numbers as bigint. */
export function prepare(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql.replaceAll(/\$(\d+)/g, '?$1'))
  statement.setReadBigInts(true)
  return statement
}

/** The faults that SQLite finds in the file. Reads the whole file. */
export function integrityFaults(db: DatabaseSync): readonly string[] {
  try {
    const rows = db.prepare('pragma integrity_check').all()
    return rows.map((row) => String(row.integrity_check)).filter((line) => line !== 'ok')
  } catch (error) {
    if (isDamaged(error)) return [(error as Error).message]
    throw error
  }
}

/** Errors that may pass: busy, locked, read-only, I/O error, full, a file that cannot be opened. */
const passing = new Set([5, 6, 8, 10, 13, 14])

/** Whether another connection's lock refused a statement. */
export const isBusy = (error: unknown): boolean => {
  const code = codeOf(error)
  return code === 5 || code === 6
}

/** Whether SQLite cannot read the file as a database. */
export const isDamaged = (error: unknown): boolean => {
  const code = codeOf(error)
  return code === 11 || code === 26
}

/**
 * Runs statements. Throws a StoreUnavailable for an error that may be gone at the next attempt, and
 * a StoreCorrupted where SQLite cannot read the file.
 */
export function guarded<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw failureOf(error)
  }
}

/** A StoreUnavailable for an error that may be gone at the next attempt, else the error itself. */
export function failureOf(error: unknown): unknown {
  if (isDamaged(error)) return new StoreCorrupted((error as Error).message, { cause: error })
  const code = codeOf(error)
  if (code === undefined || !passing.has(code)) return error
  return exhaustionOf(error) ?? new StoreUnavailable((error as Error).message, { cause: error })
}

/** Whether the disk fails or is full, or a limit of this process forbids the write. */
export const isFailedWrite = (error: unknown): boolean => {
  const code = codeOf(error)
  return code === 10 || code === 13
}

/** The primary result code of an SQLite error, which is the low byte. */
function codeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode
  return typeof code === 'number' ? code & 0xff : undefined
}
