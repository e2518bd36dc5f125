import type { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../contract/resource.ts'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import type { LineFault, MergeReport, RecordLoad } from '../records.ts'
import { conflictQueries, type MergeDialect, mergeStatements } from '../sql/merge-query.ts'
import { dropRepeats, refused, stagedColumns, stagedValues } from '../sql/staging.ts'
import { openDatabase } from './database.ts'
import { inTransaction } from './migrate.ts'

/**
 * An import of one file on the embedded store. Records are staged in a temporary table on disk, so that memory stays
 * flat, the file is read and checked without any lock, and a killed import leaves nothing behind. `merge` then does
 * everything else in one transaction.
 */
export async function openLoad(
  path: string,
  resource: Resource,
  clock: Clock,
): Promise<RecordLoad> {
  const db = openStaging(path, resource)
  const insert = db.prepare(stagingInsert(resource))
  const conflicts = conflictQueries(resource, dialect)
  db.exec('begin')
  return {
    stage(record) {
      insert.run(stagedValues(record))
      return undefined
    },
    async merge({ dryRun, allowOlder }) {
      db.exec('commit')
      db.exec('create index temp.staged_by_id on staged (id)')
      const within = faultsOf(db, [conflicts.sameIdTwice, ...conflicts.withinFile])
      if (within.length > 0) return refused(within)
      db.exec(dropRepeats(dialect.staged))
      return inTransaction(db, () => {
        const against = [...conflicts.withStore, ...(allowOlder ? [] : [conflicts.older])]
        const faults = faultsOf(db, against)
        if (faults.length > 0) return refused(faults)
        return mergeStaged(db, resource, { storedAt: clock(), dryRun })
      })
    },
    async close() {
      if (db.isOpen) db.close()
    },
  }
}

const dialect: MergeDialect = {
  staged: 'temp.staged',
  table: (name) => name,
  by: (index) => `indexed by ${index}`,
  now: ':now',
}

/** A connection of its own: its temporary table and its transaction are nobody else's. */
function openStaging(path: string, resource: Resource): DatabaseSync {
  const db = openDatabase(path)
  // An import may wait for another one's merge. The cache also bounds what a sort holds in memory: with 20 MB a million
  // records stay under 300 MB in all, and are merged in half the time that SQLite's own 2 MB take.
  db.exec(`
    pragma busy_timeout = 60000;
    pragma temp_store = file;
    pragma cache_size = -20000;
    pragma journal_size_limit = 67108864`)
  // A number is bound as a real one, and a line told as 7.0, unless its column makes it an integer.
  const columns = stagedColumns(resource).map((name) => (name === 'line' ? 'line integer' : name))
  db.exec(`create temp table staged (sequence integer primary key, ${columns.join(', ')})`)
  return db
}

function stagingInsert(resource: Resource): string {
  const columns = stagedColumns(resource)
  const values = columns.map((column) => `:${column}`)
  return `insert into temp.staged (${columns.join(', ')}) values (${values.join(', ')})`
}

function faultsOf(db: DatabaseSync, queries: readonly string[]): LineFault[] {
  return queries
    .flatMap((sql) => db.prepare(`${sql} limit ${limits.faultsReportedMax}`).all())
    .map((row) => ({
      line: Number(row.line),
      member: String(row.member),
      reason: String(row.reason),
    }))
    .toSorted((a, b) => a.line - b.line)
    .slice(0, limits.faultsReportedMax)
}

function mergeStaged(
  db: DatabaseSync,
  resource: Resource,
  { storedAt, dryRun }: { storedAt: bigint; dryRun: boolean },
): MergeReport {
  const statements = mergeStatements(resource, dialect)
  const { replacing } = statements
  db.exec(replacing.keepDeletions)
  const counts = db.prepare(replacing.count).get()
  const report = {
    faults: [],
    added: Number(counts?.added),
    changed: Number(counts?.changed),
    unchanged: Number(counts?.unchanged),
  }
  if (dryRun) return report
  db.exec(replacing.dropUnchanged)
  for (const sql of [...replacing.supersede, ...statements.insert]) {
    const statement = db.prepare(sql)
    // Not every step dates what it writes.
    statement.setAllowUnknownNamedParameters(true)
    statement.run({ now: storedAt })
  }
  return report
}
