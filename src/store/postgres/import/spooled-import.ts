import type { Resource } from '../../../contract/resource.ts'
import type { Clock } from '../../../platform/clock.ts'
import { limits } from '../../../platform/limits.ts'
import { loadRecords, type StagingArea } from '../../merge/load-records.ts'
import { createImportStaging, indexKnown, knownStaging, stagingOf } from '../../merge/staging.ts'
import type { LineName, RecordLoad } from '../../records/import.ts'
import type { Spools } from '../../spool.ts'
import type { Servers } from '../cluster/servers.ts'
import { transact } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import type { Connection } from '../driver/connection.ts'
import { bulkTransaction, setLocal } from '../driver/sessions.ts'
import { rowsOf, sessionOf } from '../session.ts'
import { copyLine } from './copy-line.ts'
import { copySpool } from './copy-spool.ts'
import { dropStaging, lockKind } from './put-transactions.ts'

export type SpooledImportDeps = {
  readonly servers: Servers
  readonly spools: Spools
  /** The deadline of the merge, and of each of its statements. */
  readonly mergeMs: number
  readonly clock: Clock
  readonly nameLine?: LineName | undefined
}

/**
 * Imports one file. Its lines wait in a spool for the last one, so that they hold no session. Then
 * one transaction copies them to a temporary table, because COPY cannot write to a table with
 * row-level security, and merges them. Readers do not wait, and see all of the file or nothing.
 */
export const beginSpooledImport = (
  { clock, nameLine, ...deps }: SpooledImportDeps,
  resource: Resource,
): Promise<RecordLoad> =>
  loadRecords({ area: openArea(deps, resource), dialect, clock, nameLine }, resource)

function openArea(
  { servers, spools, mergeMs }: Pick<SpooledImportDeps, 'servers' | 'spools' | 'mergeMs'>,
  resource: Resource,
): StagingArea {
  const lines = { staging: stagingOf(resource, dialect), spool: spools.open() }
  const known = { staging: knownStaging(dialect), spool: spools.open() }
  const prepareTables = [
    setLocal(bulkTransaction(mergeMs)),
    dropStaging,
    createImportStaging(lines.staging, known.staging, 'on commit drop'),
  ].join('; ')
  const fill = async (connection: Connection) => {
    await connection.execute(prepareTables)
    await copySpool(connection, lines)
    await connection.execute('analyze staged')
    if (known.spool.isEmpty()) return
    await copySpool(connection, known)
    await connection.execute(`${indexKnown}; analyze known`)
  }
  return {
    reader: rowsOf(servers),
    stage: (row) => lines.spool.write(copyLine(row)),
    noteKnown: async (rows) => {
      await known.spool.write(rows.map(copyLine).join(''))
    },
    withStaged: (work) => {
      const run = async (connection: Connection) => {
        await fill(connection)
        const session = sessionOf(connection)
        return await work({
          session,
          locked: async (merge) => {
            await session.run(lockKind(resource))
            return await merge()
          },
          storing: (_counts, store) => store(),
        })
      }
      return servers.onPrimary(
        (connection) => transact(connection, () => run(connection)),
        mergeMs,
        limits.mergeSessionMs,
      )
    },
    close: async () => {
      await lines.spool.close()
      await known.spool.close()
    },
  }
}
