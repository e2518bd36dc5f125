import type { DatabaseSync } from 'node:sqlite'
import type { Resource } from '../../../contract/resource.ts'
import { joinFaults } from '../../found-faults.ts'
import { AlreadyAnswered } from '../../records/history.ts'
import type {
  FoundFaults,
  MergeOptions,
  MergeOrigin,
  MergeReport,
  RejectedRecord,
} from '../../records/import.ts'
import { optionalWhole, whole } from '../../row.ts'
import {
  type CountedFiles,
  filesOf,
  reportOf,
  stagedByFile,
  sumOf,
} from '../../sql/import/file-counts.ts'
import {
  countConflicts,
  firstConflicts,
  isCutOff,
  readFault,
} from '../../sql/import/found-faults.ts'
import { insertJournal, journalValues } from '../../sql/import/journal.ts'
import { knownByFile } from '../../sql/import/known-lines.ts'
import { insertOrigin, originOfClient, originValues } from '../../sql/import/origins.ts'
import { rejectedCollector, rejection } from '../../sql/import/rejection.ts'
import { stageLosers } from '../../sql/import/take-over.ts'
import { mergeStatements } from '../../sql/merge-statements.ts'
import { dropRepeats, mergeTime } from '../../sql/staging.ts'
import { prepare } from '../database.ts'
import { dialect } from '../dialect.ts'
import { keepOnce } from '../ingest/kept-answers.ts'
import { inputOf } from '../session.ts'
import { buildingIndexes } from './build-indexes.ts'
import type { ImportSpace } from './disk-space.ts'

export function faultsOf(db: DatabaseSync, queries: readonly string[]): FoundFaults {
  const found = queries.map((sql) => {
    const rows = db.prepare(firstConflicts(sql)).all()
    const faults = rows.map((row) => ({
      line: Number(row.line),
      ...readFault(row.member, row.code, row.reason),
    }))
    const counted = isCutOff(faults) ? db.prepare(countConflicts(sql)).get()?.conflicts : undefined
    return { faults, faultCount: Number(counted ?? faults.length) }
  })
  return joinFaults(found)
}

/** Leaves out what conflicts. A record may conflict only once another one is left out. */
export function rejectConflicts(
  db: DatabaseSync,
  queries: readonly string[],
  reject: (rejected: RejectedRecord) => void,
): number {
  db.exec(rejection.create)
  const fill = rejection.fill(queries)
  let rejected = 0
  for (let found = -1; found !== 0; rejected += found) {
    db.exec(fill)
    const collector = rejectedCollector(reject)
    for (const row of db.prepare(rejection.select).iterate()) {
      const [file, line] = [Number(row.file), Number(row.line)]
      const fault = readFault(row.member, row.code, row.reason)
      collector.add({ file, line, raw: String(row.raw), fault })
    }
    found = collector.end()
    db.exec(`${rejection.remove}; ${rejection.empty}`)
  }
  return rejected
}

type MergeParts = Omit<MergeOptions, 'allowOlder' | 'reject'> & {
  readonly now: bigint
  readonly space: ImportSpace
  readonly rejected: number
  /** Whether an id is staged twice. */
  readonly repeats: boolean
}

export function mergeStaged(
  db: DatabaseSync,
  resource: Resource,
  { now, answering, dryRun, takeOver = false, origins, space, rejected, repeats }: MergeParts,
): MergeReport {
  const merge = mergeStatements(resource, dialect)
  const byFile = (sql: string): CountedFiles =>
    new Map(
      db
        .prepare(sql)
        .all()
        .map((row) => [Number(row.file), Number(row.records)]),
    )
  const staged = byFile(stagedByFile)
  if (repeats) db.exec(dropRepeats)
  const unique = repeats ? byFile(stagedByFile) : staged
  const hasReplaced = db.prepare(merge.hasReplaced).get()?.has_replaced === 1
  if (hasReplaced) {
    if (merge.keepDeletions !== undefined) db.exec(merge.keepDeletions)
    db.exec(merge.dropUnchanged)
  }
  const replaced: CountedFiles = hasReplaced ? byFile(merge.countReplaced) : new Map()
  const remaining = hasReplaced ? byFile(stagedByFile) : unique
  const counted = { staged, known: byFile(knownByFile), remaining, replaced }
  const takeOvers = takeOver ? prepare(db, stageLosers(resource, dialect)).all(now) : []
  const withdrawn = takeOvers.length
  const report = reportOf(counted, { ids: sumOf(unique), rejected, withdrawn })
  const { added, changed } = report
  if (!dryRun) {
    // A changed record is stored beside its previous version.
    space.requireForMerge(added + 2 * (changed + withdrawn))
    const storedAt = mergeTimeOf(db, merge.lastChange, now)
    noteOrigins(db, origins, takeOver)
    buildingIndexes(db, resource.table, added, () => {
      const does = { adds: added > 0, replaces: changed + withdrawn > 0, storedAt }
      for (const { text, values = [] } of merge.changes(does)) {
        prepare(db, text).run(...values.map(inputOf))
      }
    })
    for (const [origin, counts] of filesOf(origins, counted)) {
      const values = journalValues(resource.kind, storedAt, origin, counts)
      db.prepare(insertJournal('import_journal', () => '?')).run(...values)
    }
  }
  if (answering !== undefined && !keepOnce(db, answering(report), now)) throw new AlreadyAnswered()
  return report
}

const mergeTimeOf = (db: DatabaseSync, lastChange: string, now: bigint): bigint =>
  mergeTime(now, optionalWhole(prepare(db, lastChange).get() ?? {}, 'changed_at') ?? 0n)

/** Stores who imports each file, for the versions that the merge stores. */
function noteOrigins(
  db: DatabaseSync,
  origins: readonly MergeOrigin[] = [],
  takesOver: boolean,
): void {
  const insert = db.prepare('insert into staged_origin values (?, ?, ?, ?)')
  for (const [file, { from, linesBefore }] of origins.entries()) {
    const taker = takesOver ? storeOrigin(db, from, true) : null
    insert.run(file, storeOrigin(db, from), linesBefore, taker)
  }
}

/** Returns the id of an origin. All requests of a client with one command share theirs. */
export function storeOrigin(
  db: DatabaseSync,
  from: MergeOrigin['from'],
  takesOver = false,
): bigint {
  const values = originValues(from, takesOver)
  const [command = null, clientId = null] = values
  const find = prepare(
    db,
    originOfClient('origin', () => '?'),
  )
  const known = clientId === null ? undefined : find.get(command, clientId)
  if (known !== undefined) return whole(known, 'id')
  const inserted = prepare(db, `${insertOrigin('origin', () => '?')} returning id`).get(...values)
  return whole(inserted ?? {}, 'id')
}
