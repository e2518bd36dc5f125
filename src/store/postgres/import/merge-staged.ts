import type { Resource } from '../../../contract/resource.ts'
import { joinFaults, noFaults } from '../../found-faults.ts'
import { AlreadyAnswered } from '../../records/history.ts'
import type {
  FoundFaults,
  MergeOptions,
  MergeOrigin,
  MergeReport,
  RejectedRecord,
} from '../../records/import.ts'
import { whole } from '../../row.ts'
import { conflictQueries } from '../../sql/import/conflict-queries.ts'
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
import { CHANGED_MEANWHILE, knownByFile } from '../../sql/import/known-lines.ts'
import { insertOrigin, originOfClient, originValues } from '../../sql/import/origins.ts'
import { rejectedCollector, rejection } from '../../sql/import/rejection.ts'
import { stageLosers } from '../../sql/import/take-over.ts'
import { mergeStatements } from '../../sql/merge-statements.ts'
import { dropRepeats, mergeTime, refused } from '../../sql/staging.ts'
import { dialect } from '../dialect.ts'
import type { Connection } from '../driver/connection.ts'
import { keepOnce } from '../ingest/kept-answers.ts'
import type { KnownLines } from './known-lines.ts'

/** Merges the staged records, in the transaction that has staged them. */
export async function mergeStaged(
  connection: Connection,
  resource: Resource,
  options: MergeOptions & {
    readonly now: bigint
    readonly repeats: boolean
    /** The conflicts of staged records with known lines. */
    readonly ofKnown: readonly string[]
    readonly known: Pick<KnownLines, 'areChanged'>
  },
): Promise<MergeReport> {
  const {
    answering,
    dryRun,
    allowOlder,
    takeOver = false,
    origins,
    reject,
    now,
    repeats,
    ofKnown,
    known,
  } = options
  const conflicts = conflictQueries(resource, dialect)
  const merge = mergeStatements(resource, dialect)
  // Before it locks the table, unless what is stored decides which record is rejected.
  const withinFile = [...conflicts.withinFile(repeats), ...ofKnown]
  const within = reject === undefined ? await faultsOf(connection, withinFile) : noFaults
  if (within.faultCount > 0) {
    const stored = await faultsOf(connection, conflicts.withStore({ allowOlder, takeOver }))
    return refused(joinFaults([within, stored]))
  }
  // Readers go on; another import of this kind waits until this transaction ends.
  await connection.execute(
    `lock table ${dialect.tableName(resource.table)} in share row exclusive mode`,
  )
  if (await known.areChanged(connection)) {
    return refused({ faults: [CHANGED_MEANWHILE], faultCount: 1 })
  }
  const hasReplaced = await isTrue(connection, merge.hasReplaced)
  // Only a stored version can make another one older.
  const withStore = conflicts.withStore({ allowOlder: allowOlder || !hasReplaced, takeOver })
  const stored = reject === undefined ? await faultsOf(connection, withStore) : noFaults
  if (stored.faultCount > 0) return refused(stored)
  const all = [...withinFile, ...withStore]
  const rejected = reject === undefined ? 0 : await rejectConflicts(connection, all, reject)
  const staged = await byFile(connection, stagedByFile)
  if (repeats) await connection.execute(dropRepeats)
  const unique = repeats ? await byFile(connection, stagedByFile) : staged
  if (hasReplaced) {
    if (merge.keepDeletions !== undefined) await connection.execute(merge.keepDeletions)
    await connection.execute(merge.dropUnchanged)
  }
  const replaced = hasReplaced ? await byFile(connection, merge.countReplaced) : new Map()
  const remaining = hasReplaced ? await byFile(connection, stagedByFile) : unique
  const unstaged = await byFile(connection, knownByFile)
  const counted = { staged, known: unstaged, remaining, replaced }
  const withdrawn = takeOver ? await withdrawLosers(connection, resource, now) : 0
  const report = reportOf(counted, { ids: sumOf(unique), rejected, withdrawn })
  if (dryRun) return report
  const [last] = await connection.query({ text: merge.lastChange })
  const storedAt = mergeTime(now, BigInt(String(last?.[0] ?? 0)))
  await noteOrigins(connection, origins, takeOver)
  const does = { adds: report.added > 0, replaces: report.changed + withdrawn > 0, storedAt }
  for (const statement of merge.changes(does)) await connection.query(statement)
  for (const [origin, counts] of filesOf(origins, counted)) {
    await connection.query({
      text: insertJournal(dialect.tableName('import_journal'), (number) => `$${number}`),
      values: journalValues(resource.kind, storedAt, origin, counts),
    })
  }
  if (answering !== undefined && !(await keepOnce(connection, answering(report), now))) {
    throw new AlreadyAnswered()
  }
  return report
}

/** Returns how many records lose a value to the staged ones. */
async function withdrawLosers(
  connection: Connection,
  resource: Resource,
  now: bigint,
): Promise<number> {
  const losers = { text: stageLosers(resource, dialect), values: [now] }
  return (await connection.query(losers)).length
}

export async function isTrue(connection: Connection, text: string): Promise<boolean> {
  const [row] = await connection.query({ text })
  return String(row?.[0]) === 't'
}

async function byFile(connection: Connection, text: string): Promise<CountedFiles> {
  const rows = await connection.query({ text })
  return new Map(rows.map(([file, records]) => [Number(file), Number(records)]))
}

/** Leaves out what conflicts. A record may conflict only once another one is left out. */
async function rejectConflicts(
  connection: Connection,
  queries: readonly string[],
  reject: (rejected: RejectedRecord) => void,
): Promise<number> {
  await connection.execute(`${rejection.create} on commit drop`)
  const fill = rejection.fill(queries)
  let rejected = 0
  for (let found = -1; found !== 0; rejected += found) {
    await connection.execute(fill)
    const collector = rejectedCollector(reject)
    await connection.execute(`declare conflicting cursor for ${rejection.select}`)
    for (let isEnd = false; !isEnd; ) {
      const rows = await connection.query({ text: `fetch ${REJECTED_AT_ONCE} from conflicting` })
      for (const [file, line, member, code, reason, raw] of rows) {
        const fault = readFault(member, code, reason)
        collector.add({ file: Number(file), line: Number(line), raw: String(raw), fault })
      }
      isEnd = rows.length < REJECTED_AT_ONCE
    }
    found = collector.end()
    await connection.execute(`close conflicting; ${rejection.remove}; ${rejection.empty}`)
  }
  return rejected
}

/** Bounds the memory of a file that conflicts everywhere. */
const REJECTED_AT_ONCE = 500

export async function faultsOf(
  connection: Connection,
  queries: readonly string[],
): Promise<FoundFaults> {
  const found: FoundFaults[] = []
  for (const sql of queries) {
    const rows = await connection.query({ text: firstConflicts(sql) })
    const faults = rows.map(([line, member, code, reason]) => ({
      line: Number(line),
      ...readFault(member, code, reason),
    }))
    const [counted] = isCutOff(faults) ? await connection.query({ text: countConflicts(sql) }) : []
    found.push({ faults, faultCount: Number(counted?.[0] ?? faults.length) })
  }
  return joinFaults(found)
}

/** Stores who imports each file, for the versions that the merge stores. */
async function noteOrigins(
  connection: Connection,
  origins: readonly MergeOrigin[] = [],
  takesOver: boolean,
): Promise<void> {
  for (const [file, { from, linesBefore }] of origins.entries()) {
    const taker = takesOver ? await storeOrigin(connection, from, true) : null
    const values = [file, await storeOrigin(connection, from), linesBefore, taker]
    await connection.query({ text: 'insert into staged_origin values ($1, $2, $3, $4)', values })
  }
}

/** Returns the id of an origin. All requests of a client with one command share theirs. */
export async function storeOrigin(
  connection: Connection,
  from: MergeOrigin['from'],
  takesOver = false,
): Promise<bigint> {
  const table = dialect.tableName('origin')
  const values = originValues(from, takesOver)
  const [command = null, clientId = null] = values
  const find = { text: originOfClient(table, numbered), values: [command, clientId], prepare: true }
  const [known] = clientId === null ? [] : await connection.rows(find)
  if (known !== undefined) return whole(known, 'id')
  // Another process may store the client's first record at this very moment.
  const text = `${insertOrigin(table, numbered)} on conflict do nothing returning id`
  const [inserted] = await connection.rows({ text, values })
  return whole(inserted ?? (await connection.rows(find))[0] ?? {}, 'id')
}

const numbered = (number: number): string => `$${number}`
