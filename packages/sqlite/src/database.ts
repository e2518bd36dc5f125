import { existsSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import {
  ConfigError,
  hasFreeDescriptors,
  isOutOfDescriptors,
  makePrivateFile,
  outOfDescriptors,
  requirePrivate,
} from '@bursar/base'
import { recordsLimits, StoreCorrupted, StoreUnavailable } from '@bursar/records'
import { sqliteLimits } from './limits.ts'

/**
 * Opens or creates a database file for a process that starts. It may wait for a lock, because it
 * serves nobody yet.
 */
export const openDatabase = (path: string): DatabaseSync =>
  refuseLocked(path, () =>
    configured(path, () => {
      // SQLite copies the mode of the file to its WAL, so the file is created with it here.
      makePrivateFile(path)
      return new DatabaseSync(path, { timeout: recordsLimits.storeLockWaitMs })
    }),
  )

/**
 * Opens a further connection to a database. None of its statements waits for a lock, because that
 * would block the process. It must not put an empty file where one vanished.
 */
export const openFurther = (path: string): DatabaseSync =>
  configured(path, () => openExisting(path))

/**
 * Opens a database, whose files have mode 0600 because they hold account numbers or keys. Throws a
 * ConfigError for one that others can read. WAL lets readers run beside a writer. With `synchronous
 * = full`, a commit survives a power cut.
 */
function configured(path: string, open: () => DatabaseSync): DatabaseSync {
  requireUsable(path)
  const db = open()
  try {
    db.exec(connectionPragmas)
    return db
  } catch (error) {
    db.close()
    throw exhaustionOf(error) ?? error
  }
}

/** Of every connection. A page of 8 KB, set before the first table, holds a record. */
export const connectionPragmas = `
  pragma page_size = 8192;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma trusted_schema = off;
  pragma journal_size_limit = ${sqliteLimits.storeLogBytesMax}`

/** Throws a ConfigError for a database that others can read, or that is half restored. */
export function requireUsable(path: string): void {
  refuseHalfRestored(path)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) requirePrivate(file)
}

/** The file that exists while a restore replaces a database. */
export const restoreMarker = (path: string): string => `${path}.restoring`

/** Throws a ConfigError if a restore is replacing the database, or was interrupted. */
export function refuseHalfRestored(path: string): void {
  if (!existsSync(restoreMarker(path))) return
  throw new ConfigError(
    `${path} is being restored, or its restore was interrupted. If no restore is running, run \`bursar restore FILE --replace\` again.`,
  )
}

/** With it, SQLite puts no empty file where one vanished. */
export function existingUrl(path: string): URL {
  const url = pathToFileURL(path)
  url.searchParams.set('mode', 'rw')
  return url
}

/** SQLite itself refuses a missing file, so none can vanish between a check and the opening. */
function openExisting(path: string): DatabaseSync {
  try {
    return new DatabaseSync(existingUrl(path), { timeout: 0 })
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
      `another process, such as an import, has locked ${path} for ${recordsLimits.storeLockWaitMs / 1000} s; wait until it has ended, then run this again`,
      { cause: error },
    )
  }
}

/**
 * Begins a transaction that writes, with its lock, so that a second writer waits here and does not
 * fail half way. Disposing of it rolls it back, unless it was committed.
 */
export function beginWriting(db: DatabaseSync): Disposable & { commit(): void } {
  db.exec('begin immediate')
  return {
    commit: () => db.exec('commit'),
    [Symbol.dispose]: () => {
      if (db.isTransaction) db.exec('rollback')
    },
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
const passing: readonly number[] = [5, 6, 8, 10, 13, 14]

/** Whether another connection's lock refused a statement. */
export const isBusy = (error: unknown): boolean => [5, 6].includes(codeOf(error))

/** Whether SQLite cannot read the file as a database. */
export const isDamaged = (error: unknown): boolean => [11, 26].includes(codeOf(error))

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
  if (!passing.includes(codeOf(error))) return error
  return exhaustionOf(error) ?? new StoreUnavailable((error as Error).message, { cause: error })
}

/** Whether the disk fails or is full, or a limit of this process forbids the write. */
export const isFailedWrite = (error: unknown): boolean => [10, 13].includes(codeOf(error))

/** Opens files. Throws a StoreUnavailable that says so if the process may open no more of them. */
export function describingExhaustion<T>(open: () => T): T {
  try {
    return open()
  } catch (error) {
    throw exhaustionOf(error) ?? error
  }
}

/** SQLite opens the database, its log, the log's index and, for a moment, the folder. */
const DESCRIPTORS = 4

/** A StoreUnavailable if the process may open no more files. SQLite itself does not tell why. */
function exhaustionOf(error: unknown): StoreUnavailable | undefined {
  // SQLITE_CANTOPEN, or an I/O error of opening the index of the log.
  const isUnopened = [10, 14].includes(codeOf(error)) && !hasFreeDescriptors(DESCRIPTORS)
  if (!isOutOfDescriptors(error) && !isUnopened) return undefined
  return new StoreUnavailable(outOfDescriptors, { cause: error })
}

/** The primary result code of an SQLite error, which is the low byte. -1 for another error. */
function codeOf(error: unknown): number {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : -1
}
