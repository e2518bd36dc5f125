import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { makePrivateFile } from '@bursar/base'
import type { SandboxState } from '@bursar/records'
import { beginWriting, prepare } from '../database.ts'
import { besidePath, type StorePaths } from '../files/require-files.ts'
import { retryWhileLocked } from '../locks.ts'

type Databases = Readonly<Record<keyof StorePaths, DatabaseSync>>
type Snapshots = Pick<SandboxState, 'saveSnapshot' | 'restoreSnapshot' | 'dropSnapshot'> & {
  readonly dropAll: () => void
}

/**
 * Snapshots as files beside the databases. Each call runs in one turn of the event loop, so no
 * request of this process comes between the two databases.
 */
export function openSnapshots(paths: StorePaths, databases: Databases): Snapshots {
  const names = ['records', 'credentials'] as const
  const fileOf = (name: keyof StorePaths, id: string) =>
    besidePath(paths[name], `snapshot-${id}.db`)
  const drop = (id: string) => {
    for (const name of names) rmSync(fileOf(name, id), { force: true })
  }
  const dropAll = () => {
    const folder = dirname(paths.records)
    const starts = names.map((name) => basename(besidePath(paths[name], 'snapshot-')))
    for (const file of readdirSync(folder)) {
      if (starts.some((start) => file.startsWith(start))) rmSync(join(folder, file))
    }
  }
  // A killed process leaves its snapshots, and no later process knows their ids.
  dropAll()
  return {
    dropAll,
    saveSnapshot: async (id) => {
      try {
        for (const name of names) {
          // SQLite writes into an empty file that is there, so the mode of the file holds.
          makePrivateFile(fileOf(name, id))
          databases[name].prepare('vacuum into ?').run(fileOf(name, id))
        }
      } catch (error) {
        drop(id)
        throw error
      }
    },
    // An import from the command line may hold a lock. Restoring a database again does no harm.
    restoreSnapshot: (id) =>
      retryWhileLocked(() => {
        restore(databases.records, fileOf('records', id), afterRecords)
        restore(databases.credentials, fileOf('credentials', id), afterCredentials)
      }),
    dropSnapshot: async (id) => drop(id),
  }
}

/** A step after the tables were replaced. It takes what the step before them has returned. */
type Continuation = {
  readonly before: string
  readonly after: string
}

/**
 * A page after the restore must not have the revision of an earlier page with other records. So the
 * revisions stay, also those of customers that the snapshot does not have, and rise. Customers keep
 * their numbers, because a sandbox never removes the row of one. The audit log stays too, whose
 * chains go on.
 */
const afterRecords: Continuation = {
  before: 'select coalesce(max(changed_at), 0) as newest from revision',
  after: `update revision set changed_at = ? + 1, live = coalesce((
    select kept.live from saved.revision as kept
    where kept.customer = revision.customer and kept.kind = revision.kind), 0)`,
}

/** Processes that poll the revision must see that it has changed. */
const afterCredentials: Continuation = {
  before: 'select value as newest from credential_revision',
  after: 'update credential_revision set value = ? + 1',
}

function restore(db: DatabaseSync, file: string, { before, after }: Continuation): void {
  db.prepare('attach ? as saved').run(file)
  // The saved tables agree with each other. SQLite ignores this pragma within a transaction.
  db.exec('pragma foreign_keys = off')
  try {
    using transaction = beginWriting(db)
    const newest = prepare(db, before).get()?.newest
    const tables = db.prepare(`
      select name from main.sqlite_schema
      where type = 'table' and name not like 'sqlite\\_%' escape '\\' and name not in ('customer', 'revision', 'audit_line', 'audit_anchor', 'audit_seen')`)
    for (const { name } of tables.all()) {
      // SQLite copies the pages of an empty table whole where both have one schema.
      db.exec(`delete from main."${name}"`)
      db.exec(`insert into main."${name}" select * from saved."${name}"`)
    }
    db.prepare(after).run(newest ?? 0)
    transaction.commit()
  } finally {
    db.exec('pragma foreign_keys = on; detach saved')
  }
}
