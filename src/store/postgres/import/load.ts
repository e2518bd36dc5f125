import type { Resource } from '../../../contract/resource.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { RecordLoad } from '../../records/import.ts'
import { conflictQueries } from '../../sql/import/conflict-queries.ts'
import { createKnown } from '../../sql/import/known-lines.ts'
import { hasRepeats, stagedColumns } from '../../sql/staging.ts'
import { holdSession } from '../cluster/hold-session.ts'
import type { Servers } from '../cluster/servers.ts'
import type { Connection } from '../driver/connection.ts'
import { openCopy } from './copy-batches.ts'
import { copyLine } from './copy-line.ts'
import { openKnownLines } from './known-lines.ts'
import { dialect } from './merge-dialect.ts'
import { faultsOf, isTrue, mergeStaged } from './merge-staged.ts'
import { createStaging } from './staged-types.ts'

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
  const open = async () => {
    const staging = await openStaging(connection, columns)
    return [staging, await openKnownLines(servers, connection, resource)] as const
  }
  const [copy, known] = await open().catch(async (error: unknown) => {
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
    isFirst: known.isFirst,
    stored: known.stored,
    noteKnown: async (lines) => {
      await copy.end()
      await known.note(lines)
    },
    stage: (record) => {
      sequence += 1
      return copy.write(copyLine(columns, sequence, record))
    },
    check: async ({ allowOlder }) => {
      const repeats = await endStaging()
      const { withinFile, withStore } = conflictQueries(resource, dialect)
      const repeated = await known.conflicts()
      const all = [...withinFile(repeats), ...repeated, ...withStore(allowOlder)]
      return await faultsOf(connection, all)
    },
    merge: async (options) => {
      const repeats = await endStaging()
      const parts = { now: clock(), repeats, known }
      return await mergeStaged(connection, resource, { ...options, ...parts })
    },
    close: session.drop,
  }
}

async function openStaging(connection: Connection, staged: readonly string[]) {
  const columns = ['sequence', ...staged]
  await connection.execute(`${createStaging(columns)}; ${createKnown('uuid')}`)
  return openCopy(connection, `copy staged (${columns.join(', ')}) from stdin`)
}
