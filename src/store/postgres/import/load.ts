import type { Resource } from '../../../contract/resource.ts'
import type { Clock } from '../../../platform/clock.ts'
import { limits } from '../../../platform/limits.ts'
import type { RecordLoad } from '../../records/import.ts'
import type { Spools } from '../../spool.ts'
import { conflictQueries } from '../../sql/import/conflict-queries.ts'
import { hasRepeats, stagedColumns } from '../../sql/staging.ts'
import type { Servers } from '../cluster/servers.ts'
import { transact } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import type { Connection } from '../driver/connection.ts'
import { bulkTransaction, setLocal } from '../driver/sessions.ts'
import { copyLine } from './copy-line.ts'
import { copySpool } from './copy-spool.ts'
import { openKnownLines } from './known-lines.ts'
import { faultsOf, isTrue, mergeStaged } from './merge-staged.ts'
import { createStaging, dropStaging } from './staged-types.ts'

export type LoadDeps = {
  readonly servers: Servers
  readonly spools: Spools
  /** The deadline of the merge, and of each of its statements. */
  readonly mergeMs: number
  readonly clock: Clock
}

/**
 * Imports one file. Its lines wait in a spool for the last one, so that they hold no session. Then
 * one transaction copies them to a temporary table, because COPY cannot write to a table with
 * row-level security, and merges them. Readers do not wait, and see all of the file or nothing.
 */
export async function openLoad(deps: LoadDeps, resource: Resource): Promise<RecordLoad> {
  const { servers, spools, mergeMs, clock } = deps
  const columns = ['sequence', ...stagedColumns(resource)]
  const lines = spools.open()
  const knownLines = spools.open()
  const known = await openKnownLines(servers, resource, knownLines)
  let sequence = 0
  const stage = async (connection: Connection) => {
    await connection.execute(
      `${setLocal(bulkTransaction(mergeMs))}; ${dropStaging}; ${createStaging(columns, 'on commit drop')}`,
    )
    await copySpool(connection, 'staged', columns, lines)
    await connection.execute('analyze staged')
    const ofKnown = await known.stage(connection)
    return { repeats: await isTrue(connection, hasRepeats), ofKnown }
  }
  type Found = Awaited<ReturnType<typeof stage>>
  const withStaged = <T>(work: (connection: Connection, found: Found) => Promise<T>) =>
    servers.onPrimary(
      (connection) =>
        transact(connection, async () => await work(connection, await stage(connection))),
      mergeMs,
      limits.mergeSessionMs,
    )
  return {
    isFirst: known.isFirst,
    stored: known.stored,
    noteKnown: known.note,
    stage: (record) => {
      sequence += 1
      return lines.write(copyLine(stagedColumns(resource), sequence, record))
    },
    check: (options) =>
      withStaged(async (connection, { repeats, ofKnown }) => {
        const { withinFile, withStore } = conflictQueries(resource, dialect)
        return await faultsOf(connection, [
          ...withinFile(repeats),
          ...ofKnown,
          ...withStore(options),
        ])
      }),
    merge: (options) =>
      withStaged((connection, { repeats, ofKnown }) =>
        mergeStaged(connection, resource, {
          ...options,
          now: clock(),
          repeats,
          ofKnown,
          known,
        }),
      ),
    close: async () => {
      await lines.close()
      await knownLines.close()
    },
  }
}
