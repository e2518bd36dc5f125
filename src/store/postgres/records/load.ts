import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Resource } from '../../../contract/resource.ts'
import type { Clock } from '../../../platform/clock.ts'
import { limits } from '../../../platform/limits.ts'
import type { LineFault, MergeOptions, MergeReport, RecordLoad } from '../../records.ts'
import { conflictQueries } from '../../sql/conflict-queries.ts'
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
import { guarded } from '../driver/failure.ts'
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
      await guarded(copy.end)
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
  return openCopy(await connection.copyIn(`copy staged (${columns.join(', ')}) from stdin`))
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

const COPY_CHUNK_CHARACTERS = 64 * 1024

/** Sends lines to COPY in chunks. `write` returns a promise when the server cannot keep up. */
function openCopy(stream: Writable) {
  let chunk = ''
  let failure: unknown
  stream.on('error', (error) => {
    failure = error
  })
  const flush = async () => {
    if (failure !== undefined) await guarded(() => Promise.reject(failure))
    const full = chunk
    chunk = ''
    if (!stream.write(full)) await guarded(() => Promise.race([once(stream, 'drain'), closed]))
  }
  const closed = once(stream, 'close').then(() => {
    throw failure ?? new Error('The server ended COPY before the end of the file.')
  })
  closed.catch(() => {})
  return {
    write: (line: string): Promise<void> | undefined => {
      chunk += line
      return chunk.length < COPY_CHUNK_CHARACTERS ? undefined : flush()
    },
    end: async () => {
      if (failure !== undefined) throw failure
      await new Promise<void>((resolve, reject) => {
        stream.once('error', reject)
        stream.end(chunk, (error?: Error | null) => (error == null ? resolve() : reject(error)))
      })
    },
  }
}

const dialect: MergeDialect = {
  tableName: (table) => `bursar.${table}`,
  indexedBy: () => '',
  now: '$1::bigint',
}

async function mergeStaged(
  connection: Connection,
  resource: Resource,
  { dryRun, allowOlder, storedAt }: MergeOptions & { readonly storedAt: bigint },
): Promise<MergeReport> {
  const conflicts = conflictQueries(resource, dialect)
  const merge = mergeStatements(resource, dialect)
  const { faults: within, ids } = await checkFile(connection, conflicts)
  if (within.length > 0) return refused(within)
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
    if (faults.length > 0) return refused(faults)
    const { remaining, changed } = hasReplaced
      ? await dropUnchanged(connection, merge)
      : { remaining: ids, changed: 0 }
    for (const text of dryRun ? [] : [...(changed > 0 ? merge.supersede : []), ...merge.insert]) {
      // Only some of the statements have the parameter.
      await connection.query({ text, values: text.includes(dialect.now) ? [storedAt] : [] })
    }
    return { faults: [], added: remaining - changed, changed, unchanged: ids - remaining }
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
  if (faults.length === 0 && hasRepeats) await connection.execute(dropRepeats)
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

async function faultsOf(connection: Connection, queries: readonly string[]): Promise<LineFault[]> {
  const faults: LineFault[] = []
  for (const sql of queries) {
    const rows = await connection.query({ text: `${sql} limit ${limits.faultsReportedMax}` })
    for (const [line, member, reason] of rows) {
      faults.push({ line: Number(line), member: String(member), reason: String(reason) })
    }
  }
  return faults.toSorted((a, b) => a.line - b.line).slice(0, limits.faultsReportedMax)
}
