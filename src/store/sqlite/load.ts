import type { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../contract/resource.ts'
import type { Clock } from '../../platform/clock.ts'
import type { MergeOptions, MergeReport, RecordLoad } from '../records.ts'
import { conflictQueries } from '../sql/import/conflict-queries.ts'
import {
  countConflicts,
  type FoundFaults,
  firstConflicts,
  isCutOff,
  joinFaults,
} from '../sql/import/found-faults.ts'
import { insertJournal, journalValues } from '../sql/import/journal.ts'
import { type MergeDialect, mergeStatements } from '../sql/merge-statements.ts'
import { dropRepeats, refused, stagedColumns, stagedValues } from '../sql/staging.ts'
import { openDatabase } from './database.ts'
import { inTransaction } from './migrate.ts'

/**
 * Imports one file over a temporary table on disk: memory use stays flat, reading the file takes no
 * lock, and a killed import leaves nothing behind. `merge` does the rest in one transaction.
 */
export async function openLoad(
  path: string,
  resource: Resource,
  clock: Clock,
): Promise<RecordLoad> {
  const db = openStaging(path, resource)
  const columns = stagedColumns(resource)
  const values = columns.map((column) => `:${column}`)
  const insert = db.prepare(
    `insert into staged (${columns.join(', ')}) values (${values.join(', ')})`,
  )
  const conflicts = conflictQueries(resource, dialect)
  db.exec('begin')
  return {
    stage(record) {
      insert.run(stagedValues(record))
      return undefined
    },
    async merge(options) {
      db.exec('commit')
      db.exec('create index temp.staged_by_id on staged (id)')
      const within = faultsOf(db, [conflicts.repeatedIds, ...conflicts.withinFile])
      if (within.faultCount > 0) return refused(within)
      db.exec(dropRepeats)
      return inTransaction(db, () => {
        const faults = faultsOf(db, [
          ...conflicts.withStore,
          ...(options.allowOlder ? [] : [conflicts.olderThanStored]),
        ])
        if (faults.faultCount > 0) return refused(faults)
        return mergeStaged(db, resource, { ...options, storedAt: clock() })
      })
    },
    async close() {
      if (db.isOpen) db.close()
    },
  }
}

const dialect: MergeDialect = {
  tableName: (table) => table,
  indexedBy: (index) => `indexed by ${index}`,
  now: ':now',
}

/** Opens a connection for one import: temporary tables and transactions belong to a connection. */
function openStaging(path: string, resource: Resource): DatabaseSync {
  const db = openDatabase(path)
  // The busy timeout lets an import wait for another's merge. The cache bounds the memory of sorts;
  // with SQLite's default of 2 MB a merge takes twice as long.
  db.exec(`
    pragma busy_timeout = 60000;
    pragma temp_store = file;
    pragma cache_size = -20000;
    pragma journal_size_limit = 67108864`)
  // Node binds numbers as reals, so without an integer column line 7 would be reported as 7.0.
  const columns = stagedColumns(resource).map((name) => (name === 'line' ? 'line integer' : name))
  db.exec(`create temp table staged (sequence integer primary key, ${columns.join(', ')})`)
  return db
}

function faultsOf(db: DatabaseSync, queries: readonly string[]): FoundFaults {
  const found = queries.map((sql) => {
    const rows = db.prepare(firstConflicts(sql)).all()
    const faults = rows.map((row) => ({
      line: Number(row.line),
      member: String(row.member),
      reason: String(row.reason),
    }))
    const counted = isCutOff(faults) ? db.prepare(countConflicts(sql)).get()?.conflicts : undefined
    return { faults, faultCount: Number(counted ?? faults.length) }
  })
  return joinFaults(found)
}

function mergeStaged(
  db: DatabaseSync,
  resource: Resource,
  { storedAt, dryRun, origin }: Omit<MergeOptions, 'allowOlder'> & { readonly storedAt: bigint },
): MergeReport {
  const merge = mergeStatements(resource, dialect)
  const hasReplaced = db.prepare(merge.hasReplaced).get()?.has_replaced === 1
  let unchanged = 0
  if (hasReplaced) {
    if (merge.keepDeletions !== undefined) db.exec(merge.keepDeletions)
    unchanged = Number(db.prepare(merge.dropUnchanged).run().changes)
  }
  const counts = db.prepare(merge.countRemaining).get()
  const changed = Number(counts?.replaced)
  const added = Number(counts?.remaining) - changed
  if (!dryRun) {
    for (const sql of [...(changed > 0 ? merge.supersede : []), ...merge.insert]) {
      const statement = db.prepare(sql)
      // Only some of the statements have the parameter.
      statement.setAllowUnknownNamedParameters(true)
      statement.run({ now: storedAt })
    }
    if (origin !== undefined) {
      const values = journalValues(resource.kind, storedAt, origin, { added, changed })
      db.prepare(insertJournal('import_journal', () => '?')).run(...values)
    }
  }
  return { faults: [], faultCount: 0, added, changed, unchanged }
}
