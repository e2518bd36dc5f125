import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { StoreUnavailable } from '../unavailable.ts'

// Waiting blocks the process, so not for long: a writer beside a reader holds the file for a few milliseconds.
const BUSY_TIMEOUT_MS = 2000

/**
 * Opens a database file, made (0600, for it holds account numbers or keys) where there is none. WAL lets readers go on
 * beside a writer, and `synchronous = full` makes what was acknowledged survive a power cut.
 */
export function openDatabase(path: string): DatabaseSync {
  if (path !== ':memory:') {
    mkdirSync(dirname(path), { recursive: true })
    // SQLite gives its WAL the mode of the database, so the file is made here, for the owner alone.
    closeSync(openSync(path, 'a', 0o600))
  }
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
  // 8 KB pages hold the records of a page without overflow chains (bench/reads.ts). The size is fixed by the first
  // table, so it is set before anything else.
  db.exec(
    'pragma page_size = 8192; pragma journal_mode = wal; pragma synchronous = full; pragma trusted_schema = off',
  )
  return db
}

/** Prepares a statement whose whole numbers are read as bigint. */
export function prepare(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql)
  statement.setReadBigInts(true)
  return statement
}

/** What SQLite finds wrong with the file; nothing where it is sound. Reads all of it. */
export function integrityFaults(db: DatabaseSync): readonly string[] {
  const rows = db.prepare('pragma integrity_check').all()
  return rows.map((row) => String(row.integrity_check)).filter((line) => line !== 'ok')
}

/** SQLite's result codes that pass by themselves or by the operator's hand: busy, locked, I/O error, full. */
const passing = new Set([5, 6, 10, 13])

/** Runs statements; what passes by itself is a StoreUnavailable, anything else is thrown on. */
export function guarded<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = (error as { errcode?: unknown }).errcode
    // The low byte is the primary code; the rest says more precisely what happened.
    if (typeof code !== 'number' || !passing.has(code & 0xff)) throw error
    throw new StoreUnavailable((error as Error).message, { cause: error })
  }
}
