import { pipeline } from 'node:stream/promises'
import { type Clock, limitsOf } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import {
  CustomersLocked,
  createImportStaging,
  type LineName,
  loadRecords,
  mergeInOrder,
  type NamedRow,
  type RecordLoad,
  type Seals,
  type Spool,
  type Spools,
  type StagedValue,
  type Staging,
  type StagingArea,
  stagingOf,
  text,
} from '@bursar/records'
import type { Notifier } from '../cluster/notify.ts'
import type { Servers } from '../cluster/servers.ts'
import { transact } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import { type Connection, hexOf } from '../driver/connection.ts'
import { bulkTransaction, setLocal } from '../driver/sessions.ts'
import { postgresLimits } from '../limits.ts'
import { sessionOf } from '../session.ts'
import { lockCustomers, someIsLocked } from './customer-locks.ts'
import { dropStaging } from './put-transactions.ts'

const limits = limitsOf({
  /** How long a merge waits for a session. Its records have all arrived. */
  mergeSessionMs: 30_000,
  /** Transactions of a merge, each of which another writer kept from locking in order. */
  mergeTriesMax: 5,
})

export type SpooledImportDeps = {
  readonly servers: Servers
  /** Tells readers whose records a merge has changed. */
  readonly notifier: Notifier
  readonly spools: Spools
  /** The deadline of the merge, and of each of its statements. */
  readonly mergeMs: number
  readonly clock: Clock
  readonly seals: Seals
  readonly nameLine?: LineName | undefined
  /** Ends the import with its reason, until its merge begins. */
  readonly signal?: AbortSignal | undefined
}

type AreaDeps = Omit<SpooledImportDeps, 'clock' | 'seals' | 'nameLine'>

/**
 * Imports one file. Its lines wait in a spool for the last one, so that they hold no session. Then
 * one transaction copies them to a temporary table, because COPY cannot write to a table with
 * row-level security, and merges them. Readers do not wait, and see all of the file or nothing.
 */
export const beginSpooledImport = (
  { clock, seals, nameLine, ...deps }: SpooledImportDeps,
  resource: Resource,
): Promise<RecordLoad> =>
  loadRecords({ area: openArea(deps, resource), dialect, clock, seals, nameLine }, resource)

function openArea(
  { servers, notifier, spools, mergeMs, signal }: AreaDeps,
  resource: Resource,
): StagingArea {
  const lines = { staging: stagingOf(resource, dialect), spool: spools.open() }
  const prepareTables = [
    setLocal(bulkTransaction(mergeMs)),
    dropStaging,
    createImportStaging(lines.staging, dialect, 'on commit drop'),
  ].join('; ')
  const fill = async (connection: Connection) => {
    await connection.execute(prepareTables)
    await copySpool(connection, lines)
    await connection.execute('analyze staged_line')
  }
  return {
    stage: (row) => lines.spool.write(copyLine(row)),
    withStaged: async (work, onStep) => {
      onStep?.('session')
      let changed: readonly string[] | undefined = []
      const run = async (connection: Connection) => {
        onStep?.('checking')
        await unlessAborted(connection, signal, () => fill(connection))
        const session = sessionOf(connection)
        return await work({
          session,
          locked: async ({ add, leave, hold, store }, takeOver) => {
            const step = (name: 'customer_lock' | 'checking', work: () => Promise<void>) => {
              onStep?.(name)
              return unlessAborted(connection, signal, work)
            }
            const requireLocked = async () => {
              if (await someIsLocked(session, resource, takeOver)) throw new LockedMeanwhile()
            }
            const report = await mergeInOrder({
              lock: () =>
                step('customer_lock', async () => {
                  await session.run(lockCustomers(resource, takeOver))
                  await add()
                  // Another merge may have added a customer. What is stored must not change now.
                  await requireLocked()
                }),
              leave: () => step('checking', leave),
              hold: () => step('customer_lock', hold),
              store: async () => {
                await requireLocked()
                onStep?.('checking')
                return await store()
              },
            })
            changed = takeOver ? undefined : (await session.rows(stagedCustomers)).map(customerOf)
            return report
          },
          storing: (_counts, store) => store(),
        })
      }
      const attempt = () =>
        servers.onPrimary(
          (connection) => transact(connection, () => run(connection)),
          mergeMs,
          limits.mergeSessionMs,
        )
      const result = await againIfLocked(attempt)
      notifier.note(changed)
      return result
    },
    close: () => lines.spool.close(),
  }
}

/** Another writer has got a customer of the merge since the customers were locked. */
class LockedMeanwhile extends Error {
  override readonly name = 'LockedMeanwhile'
}

/** Tries a transaction again that would have to lock customers out of their order. */
async function againIfLocked<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof LockedMeanwhile)) throw error
      if (tries === limits.mergeTriesMax) throw new CustomersLocked({ cause: error })
    }
  }
}

/** The customers whose records a merge has stored, or more than a notification names. */
const stagedCustomers = {
  text: `select distinct customer_id from staged_line limit ${postgresLimits.notifiedCustomersMax + 1}`,
}

const customerOf = (row: NamedRow): string => text(row, 'customer_id')

/** Runs work that changes nothing. A signal ends its session, and the work with its reason. */
async function unlessAborted(
  { destroy }: Pick<Connection, 'destroy'>,
  signal: AbortSignal | undefined,
  work: () => Promise<void>,
): Promise<void> {
  signal?.throwIfAborted()
  signal?.addEventListener('abort', destroy)
  try {
    await work()
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', destroy)
  }
}

/** Copies the lines of a spool into a staging table of the transaction that runs. */
async function copySpool(
  connection: Connection,
  { staging, spool }: { readonly staging: Staging; readonly spool: Spool },
): Promise<void> {
  if (spool.isEmpty()) return
  const columns = Object.keys(staging.columns).join(', ')
  const stream = await connection.copyIn(`copy ${staging.table} (${columns}) from stdin`)
  // The library sends a last message when it closes the stream, and the next statement after it.
  const closed = new Promise<void>((resolve) => {
    stream.once('close', resolve)
  })
  await pipeline(spool.read(), stream)
  await closed
}

/** A row as a line of COPY's text format: the values between tabs, null as \N. */
const copyLine = (row: readonly StagedValue[]): string => `${row.map(escaped).join('\t')}\n`

const special = /[\\\t\n\r]/g
const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
}

function escaped(value: StagedValue): string {
  if (value === null) return '\\N'
  if (typeof value === 'string') {
    return value.replace(special, (character) => escapes[character] ?? character)
  }
  return value instanceof Uint8Array ? escaped(hexOf(value)) : String(value)
}
