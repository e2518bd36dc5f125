import type { Resource } from '../../../contract/resource.ts'
import type { Clock } from '../../../platform/clock.ts'
import { joinFaults, noFaults } from '../../found-faults.ts'
import type {
  FoundFaults,
  MergeOptions,
  MergeReport,
  RecordLoad,
  RejectedRecord,
} from '../../records.ts'
import { conflictQueries } from '../../sql/import/conflict-queries.ts'
import {
  type CountedFiles,
  filesOf,
  reportOf,
  stagedByFile,
  sumOf,
} from '../../sql/import/file-counts.ts'
import { countConflicts, firstConflicts, isCutOff } from '../../sql/import/found-faults.ts'
import { insertJournal, journalValues } from '../../sql/import/journal.ts'
import { type RejectedRow, rejectedCollector, rejection } from '../../sql/import/rejection.ts'
import { type MergeDialect, mergeStatements } from '../../sql/merge-statements.ts'
import { dropRepeats, hasRepeats, refused, stagedColumns } from '../../sql/staging.ts'
import { holdSession } from '../cluster/hold-session.ts'
import type { Servers } from '../cluster/servers.ts'
import { transact } from '../cluster/transaction.ts'
import type { Connection } from '../driver/connection.ts'
import { openCopy } from './copy-batches.ts'
import { copyLine } from './copy-line.ts'

/**
 * Imports one file. COPY fills a temporary table, because it cannot write to a table with row-level
 * security, and a file that fails half way must leave nothing behind. `merge` does the rest in one
 * transaction, so readers do not wait and see all of it or nothing.
 */
export async function openLoad(
  servers: Servers,
  resource: Resource,
  clock: Clock,
): Promise<RecordLoad> {
  const session = await holdSession(servers)
  const { connection } = session
  const columns = stagedColumns(resource)
  const copy = await openStaging(connection, columns).catch(async (error: unknown) => {
    // The caller never gets the load, so it cannot return the session to the pool.
    await session.drop()
    throw error
  })
  let sequence = 0
  const endStaging = async () => {
    await copy.end()
    await connection.execute('analyze staged')
    return await isTrue(connection, hasRepeats)
  }
  return {
    stage: (record) => {
      sequence += 1
      return copy.write(copyLine(columns, sequence, record))
    },
    check: async ({ allowOlder }) => {
      const repeats = await endStaging()
      const { withinFile, withStore } = conflictQueries(resource, dialect)
      return await faultsOf(connection, [...withinFile(repeats), ...withStore(allowOlder)])
    },
    merge: async (options) => {
      const repeats = await endStaging()
      return await mergeStaged(connection, resource, { ...options, storedAt: clock(), repeats })
    },
    close: session.drop,
  }
}

async function openStaging(connection: Connection, staged: readonly string[]) {
  const columns = ['sequence', ...staged]
  await connection.execute(
    `create temporary table staged (${columns.map((name) => `${name} ${typeOf(name)}`).join(', ')})`,
  )
  return openCopy(connection, `copy staged (${columns.join(', ')}) from stdin`)
}

const types: Readonly<Record<string, string>> = {
  sequence: 'bigint',
  file: 'integer',
  line: 'bigint',
  raw: 'text',
  id: 'uuid',
  position: 'bytea',
  full_body: 'text',
  full_checksum: 'bigint',
  masked: 'text',
  masked_checksum: 'bigint',
  deleted_at: 'bigint',
  updated_at: 'bigint',
  source_version: 'bigint',
  keeps_deletion: 'smallint',
}

const typeOf = (column: string): string => types[column] ?? 'text collate "C"'

const dialect: MergeDialect = {
  tableName: (table) => `bursar.${table}`,
  indexedBy: () => '',
  now: '$1::bigint',
}

async function mergeStaged(
  connection: Connection,
  resource: Resource,
  options: MergeOptions & { readonly storedAt: bigint; readonly repeats: boolean },
): Promise<MergeReport> {
  const { dryRun, allowOlder, origins, reject, storedAt, repeats } = options
  const conflicts = conflictQueries(resource, dialect)
  const merge = mergeStatements(resource, dialect)
  // Before it locks the table, unless what is stored decides which record is rejected.
  const withinFile = conflicts.withinFile(repeats)
  const within = reject === undefined ? await faultsOf(connection, withinFile) : noFaults
  if (within.faultCount > 0) {
    const stored = await faultsOf(connection, conflicts.withStore(allowOlder))
    return refused(joinFaults([within, stored]))
  }
  return await transact(connection, async () => {
    // Readers go on; another import of this kind waits until this transaction ends.
    await connection.execute(
      `lock table ${dialect.tableName(resource.table)} in share row exclusive mode`,
    )
    const hasReplaced = await isTrue(connection, merge.hasReplaced)
    // Only a stored version can make another one older.
    const withStore = conflicts.withStore(allowOlder || !hasReplaced)
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
    const counted = { staged, remaining, replaced }
    const report = reportOf(counted, { ids: sumOf(unique), rejected })
    const statements = [...(report.changed > 0 ? merge.supersede : []), ...merge.insert]
    for (const text of dryRun ? [] : statements) {
      // Only some of the statements have the parameter.
      await connection.query({ text, values: text.includes(dialect.now) ? [storedAt] : [] })
    }
    for (const [origin, counts] of dryRun ? [] : filesOf(origins, counted)) {
      await connection.query({
        text: insertJournal(dialect.tableName('import_journal'), (number) => `$${number}`),
        values: journalValues(resource.kind, storedAt, origin, counts),
      })
    }
    return report
  })
}

async function isTrue(connection: Connection, text: string): Promise<boolean> {
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
  await connection.execute(rejection.create)
  const fill = rejection.fill(queries)
  let rejected = 0
  for (let found = -1; found !== 0; rejected += found) {
    await connection.execute(fill)
    const collector = rejectedCollector(reject)
    await connection.execute(`declare conflicting cursor for ${rejection.select}`)
    for (let isEnd = false; !isEnd; ) {
      const rows = await connection.query({ text: `fetch ${REJECTED_AT_ONCE} from conflicting` })
      for (const [file, line, ...texts] of rows) {
        const [member, reason, raw] = texts.map(String)
        collector.add({
          ...{ file: Number(file), line: Number(line) },
          ...({ member, reason, raw } as RejectedRow),
        })
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

async function faultsOf(connection: Connection, queries: readonly string[]): Promise<FoundFaults> {
  const found: FoundFaults[] = []
  for (const sql of queries) {
    const rows = await connection.query({ text: firstConflicts(sql) })
    const faults = rows.map(([line, member, reason]) => {
      return { line: Number(line), member: String(member), reason: String(reason) }
    })
    const [counted] = isCutOff(faults) ? await connection.query({ text: countConflicts(sql) }) : []
    found.push({ faults, faultCount: Number(counted?.[0] ?? faults.length) })
  }
  return joinFaults(found)
}
