import type { Resource } from '../../../contract/resource.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { MergeOptions, MergeReport, RecordLoad } from '../../records.ts'
import { conflictQueries } from '../../sql/import/conflict-queries.ts'
import {
  countConflicts,
  type FoundFaults,
  firstConflicts,
  isCutOff,
  joinFaults,
} from '../../sql/import/found-faults.ts'
import { insertJournal, journalValues } from '../../sql/import/journal.ts'
import {
  type MergeDialect,
  type MergeStatements,
  mergeStatements,
} from '../../sql/merge-statements.ts'
import { dropRepeats, refused, stagedColumns } from '../../sql/staging.ts'
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
  return {
    stage: (record) => {
      sequence += 1
      return copy.write(copyLine(columns, sequence, record))
    },
    merge: async (options) => {
      await copy.end()
      await connection.execute('analyze staged')
      return await mergeStaged(connection, resource, { ...options, storedAt: clock() })
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
  line: 'integer',
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
  { dryRun, allowOlder, origin, storedAt }: MergeOptions & { readonly storedAt: bigint },
): Promise<MergeReport> {
  const conflicts = conflictQueries(resource, dialect)
  const merge = mergeStatements(resource, dialect)
  const { faults: within, ids } = await checkFile(connection, conflicts)
  if (within.faultCount > 0) return refused(within)
  return await transact(connection, async () => {
    // Readers go on; another import of this kind waits until this transaction ends.
    await connection.execute(
      `lock table ${dialect.tableName(resource.table)} in share row exclusive mode`,
    )
    const [replaces] = await connection.query({ text: merge.hasReplaced })
    const hasReplaced = String(replaces?.[0]) === 't'
    const faults = await faultsOf(connection, [
      ...conflicts.withStore,
      ...(hasReplaced && !allowOlder ? [conflicts.olderThanStored] : []),
    ])
    if (faults.faultCount > 0) return refused(faults)
    const { remaining, changed } = hasReplaced
      ? await dropUnchanged(connection, merge)
      : { remaining: ids, changed: 0 }
    for (const text of dryRun ? [] : [...(changed > 0 ? merge.supersede : []), ...merge.insert]) {
      // Only some of the statements have the parameter.
      await connection.query({ text, values: text.includes(dialect.now) ? [storedAt] : [] })
    }
    const counts = { added: remaining - changed, changed, unchanged: ids - remaining }
    if (!dryRun && origin !== undefined) {
      await connection.query({
        text: insertJournal(dialect.tableName('import_journal'), (number) => `$${number}`),
        values: journalValues(resource.kind, storedAt, origin, counts),
      })
    }
    return { faults: [], faultCount: 0, ...counts }
  })
}

/** The faults within the file and its number of different ids. Drops repeats if it has no fault. */
async function checkFile(
  connection: Connection,
  { repeatedIds, withinFile }: ReturnType<typeof conflictQueries>,
) {
  const [row] = await connection.query({ text: 'select count(distinct id), count(*) from staged' })
  const [ids = 0, records = 0] = (row ?? []).map(Number)
  const hasRepeats = ids < records
  const faults = await faultsOf(connection, [...(hasRepeats ? [repeatedIds] : []), ...withinFile])
  if (faults.faultCount === 0 && hasRepeats) await connection.execute(dropRepeats)
  return { faults, ids }
}

/** Leaves the staged records that add or change something, and counts them. */
async function dropUnchanged(connection: Connection, merge: MergeStatements) {
  if (merge.keepDeletions !== undefined) await connection.execute(merge.keepDeletions)
  await connection.execute(merge.dropUnchanged)
  const [counts] = await connection.query({ text: merge.countRemaining })
  const [remaining = 0, changed = 0] = (counts ?? []).map(Number)
  return { remaining, changed }
}

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
