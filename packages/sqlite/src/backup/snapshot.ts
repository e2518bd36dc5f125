import { closeSync, existsSync, openSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { StoreDamaged, StoreUnavailable } from '@bursar/records'
import { guarded, integrityFaults, isDamaged, openDatabase } from '../database.ts'

/** A database file and the path of its copy. */
export type DatabaseCopy = { readonly from: string; readonly to: string }

/** A merge of an import holds the write lock for as long as it runs. */
const LOCK_WAIT_MS = 60_000
/** 40 MB between two turns of the event loop, so that a signal is heard. */
const PAGES_PER_STEP = 5000

/**
 * Copies databases as they are at one moment, while others read and write them. Each copy is one
 * file without a WAL. Returns the faults that SQLite finds in the copies.
 */
export async function copySnapshot(copies: readonly DatabaseCopy[]): Promise<readonly string[]> {
  try {
    await copyAll(copies)
    return copies.flatMap(({ to }) => closeCopy(to))
  } catch (error) {
    if (error instanceof StoreDamaged || isDamaged(error)) return [(error as Error).message]
    throw error
  }
}

async function copyAll(copies: readonly DatabaseCopy[]): Promise<void> {
  const snapshots = guarded(() => openSnapshots(copies.map(({ from }) => from)))
  try {
    for (const [at, { to }] of copies.entries()) {
      const snapshot = snapshots[at]
      closeSync(openSync(to, 'wx', 0o600))
      if (snapshot !== undefined) await backup(snapshot, to, { rate: PAGES_PER_STEP })
    }
  } finally {
    for (const snapshot of snapshots) snapshot.close()
  }
}

/** Sessions that see their databases at one moment: nobody can write while they open. */
function openSnapshots(paths: readonly string[]): readonly DatabaseSync[] {
  const [locks, snapshots] = [paths.map(openDatabase), paths.map(openDatabase)]
  try {
    for (const lock of locks) lock.exec(`pragma busy_timeout = ${LOCK_WAIT_MS}; begin immediate`)
    for (const snapshot of snapshots) {
      snapshot.exec('begin')
      // The snapshot is taken by the first read.
      snapshot.prepare('select 1 from schema_migration').get()
    }
    return snapshots
  } catch (error) {
    for (const snapshot of snapshots) snapshot.close()
    throw error
  } finally {
    for (const lock of locks) lock.close()
  }
}

function closeCopy(path: string): readonly string[] {
  using db = new DatabaseSync(path)
  leaveWal(db, path)
  return integrityFaults(db)
}

/** Moves all that is in the WAL to the database file, which then holds everything by itself. */
export function leaveWal(db: DatabaseSync, path: string): void {
  const { journal_mode: mode } = db.prepare('pragma journal_mode = delete').get() ?? {}
  if (mode !== 'delete' || existsSync(`${path}-wal`)) {
    throw new StoreUnavailable(`${path} is in use, so that its WAL cannot be merged into it`)
  }
}
