import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Resource } from '../../../contract/resource.ts'
import type { Clock } from '../../../platform/clock.ts'
import { limits } from '../../../platform/limits.ts'
import type { LineFault, MergeOptions, MergeReport, RecordLoad } from '../../records.ts'
import {
  conflictQueries,
  type MergeDialect,
  mergeStatements,
  sameRecord,
} from '../../sql/merge-query.ts'
import { dropRepeats, refused, stagedColumns } from '../../sql/staging.ts'
import { holdSession } from '../cluster/hold-session.ts'
import type { Servers } from '../cluster/servers.ts'
import { transact } from '../cluster/transaction.ts'
import type { Connection } from '../driver/connection.ts'
import { guarded } from '../driver/failure.ts'
import { copyLine } from './copy-line.ts'

/**
 * An import of one file on PostgreSQL. COPY fills a temporary table of one session (it does not work into a table with
 * row level security, and a file that is not read to its end must leave nothing behind); `merge` then does
 * everything else in one transaction, which readers neither wait for nor see a part of.
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
    // Nobody else would ever give the session back.
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
  masked: 'text',
  deleted_at: 'bigint',
  updated_at: 'bigint',
  source_version: 'bigint',
  keeps_deletion: 'smallint',
}

const typeOf = (column: string): string => types[column] ?? 'text collate "C"'

const COPY_CHUNK_CHARACTERS = 64 * 1024

/** Lines go out in chunks; a promise where the server is behind, so that memory holds a few chunks at most. */
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
    throw failure ?? new Error('the copy ended before its file')
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
  staged: 'staged',
  table: (name) => `bursar.${name}`,
  by: () => '',
  now: '$1::bigint',
}

type Merge = MergeOptions & { readonly storedAt: bigint }

async function mergeStaged(
  connection: Connection,
  resource: Resource,
  options: Merge,
): Promise<MergeReport> {
  const { faults: within, ids } = await withinFile(connection, resource)
  if (within.length > 0) return refused(within)
  return await transact(connection, async () => {
    // Readers go on; another import of this kind waits until this one is done.
    const table = `bursar.${resource.table}`
    await connection.execute(`lock table ${table} in share row exclusive mode`)
    const hasStored = await isTrue(
      connection,
      `select exists (select 1 from staged as s join ${table} as k on ${sameRecord})`,
    )
    const { withStore, older } = conflictQueries(resource, dialect)
    const against = hasStored && !options.allowOlder ? [...withStore, older] : withStore
    const faults = await faultsOf(connection, against)
    if (faults.length > 0) return refused(faults)
    return hasStored
      ? await replaceStored(connection, resource, options)
      : await addAll(connection, resource, { ...options, ids })
  })
}

type WithinFile = { readonly faults: readonly LineFault[]; readonly ids: number }

/** The faults that the file alone shows, and how many different ids it has; where it has no fault, each is left once. */
async function withinFile(connection: Connection, resource: Resource): Promise<WithinFile> {
  const conflicts = conflictQueries(resource, dialect)
  const [row] = await connection.query({ text: 'select count(distinct id), count(*) from staged' })
  const [ids, records] = (row ?? []).map(Number) as [number, number]
  const repeats = ids < records
  const faults = await faultsOf(connection, [
    ...(repeats ? [conflicts.sameIdTwice] : []),
    ...conflicts.withinFile,
  ])
  if (faults.length === 0 && repeats) await connection.execute(dropRepeats(dialect.staged))
  return { faults, ids }
}

/** None of them is stored yet, which is asked once instead of by every statement. */
async function addAll(
  connection: Connection,
  resource: Resource,
  { dryRun, storedAt, ids }: Merge & { readonly ids: number },
): Promise<MergeReport> {
  if (!dryRun) await run(connection, mergeStatements(resource, dialect).insert, storedAt)
  return { faults: [], added: ids, changed: 0, unchanged: 0 }
}

async function replaceStored(
  connection: Connection,
  resource: Resource,
  { dryRun, storedAt }: Merge,
): Promise<MergeReport> {
  const { replacing, insert } = mergeStatements(resource, dialect)
  if (replacing.keepDeletions !== '') await connection.execute(replacing.keepDeletions)
  const [counts] = await connection.query({ text: replacing.count })
  const [added, changed, unchanged] = (counts ?? []).map(Number)
  if (!dryRun) {
    const statements = [replacing.dropUnchanged, ...replacing.supersede, ...insert]
    await run(connection, statements, storedAt)
  }
  return { faults: [], added: added ?? 0, changed: changed ?? 0, unchanged: unchanged ?? 0 }
}

async function run(
  connection: Connection,
  statements: readonly string[],
  storedAt: bigint,
): Promise<void> {
  for (const text of statements) {
    // Not every step dates what it writes.
    await connection.query({ text, values: text.includes(dialect.now) ? [storedAt] : [] })
  }
}

async function isTrue(connection: Connection, text: string): Promise<boolean> {
  const [row] = await connection.query({ text })
  return String(row?.[0]) === 't'
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
