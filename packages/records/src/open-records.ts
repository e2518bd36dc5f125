import type { Background, Clock, Logger, Metrics } from '@bursar/base'
import { openAcross } from './across/across-records.ts'
import { type ChangeSource, openChangeWatch } from './change-watch.ts'
import { openCountDeleted } from './customers/count-deleted.ts'
import { openCustomerList } from './customers/find-customers.ts'
import { openRename } from './customers/rename-customer.ts'
import type { Dialect } from './dialect.ts'
import { openEraser } from './erasure/erase-records.ts'
import { type ImportLock, openImports, type WaitingTransact } from './imports/open-imports.ts'
import { intactRecords, openIsTorn, type ReadRecords } from './integrity/intact-records.ts'
import { openKnownDamage } from './integrity/known-damage.ts'
import { openOwners } from './integrity/owners.ts'
import { openRewriter } from './integrity/rewrite-derived.ts'
import { rowFaults, storedRows } from './integrity/stored-rows.ts'
import { openNoteConsumed } from './merge/note-consumed.ts'
import { openPutRecords, type PutTransactions } from './merge/put-queue.ts'
import { clearRecords, countRecords, exportLines } from './records/all-records.ts'
import type { OperatorRecords, Store } from './records.ts'
import { indexKeysOf } from './sealing/customer-key-rows.ts'
import { openResealing } from './sealing/reseal.ts'
import { sealingPuts } from './sealing/sealed-puts.ts'
import type { Sealing, Seals } from './sealing/seals.ts'
import { openSearch } from './search/search.ts'
import type { Reads, Session, TenantReads, Transact } from './session.ts'
import { openChangeLog } from './versions/change-log.ts'
import { openPastPages, pastRowReader, type ReadPastRow } from './versions/past-page.ts'
import { openPruner } from './versions/prune.ts'
import { readEvents } from './versions/read-events.ts'
import { openLatestChanges } from './versions/read-latest-changes.ts'
import { openTenantPast } from './versions/tenant-past.ts'
import { openVersions } from './versions/versions.ts'

/** What an adapter gives the store of records. */
export type RecordSessions = {
  readonly dialect: Dialect
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: Metrics | undefined
  /** Reads of customers, whose records are compared with their checksums here. */
  readonly customers: ReadRecords
  readonly ofTenant: TenantReads
  /** For requests of the operator, which have a deadline. */
  readonly requests: Reads & { readonly transact: Transact }
  /** For commands. */
  readonly commands: Reads & { readonly transact: Transact }
  /** Reads of every record in the background, which leave caches and locks to the others. */
  readonly walking: Reads
  /** Reads from one snapshot, however slowly the caller takes what it yields. */
  readonly readSnapshot: <T>(
    read: (session: Pick<Session, 'rows' | 'iterate'>) => AsyncIterable<T>,
  ) => AsyncIterable<T>
  /** Reads past pages; by default each with a statement of its requests. */
  readonly readPastRow?: ReadPastRow
  readonly changes: ChangeSource
  readonly background: Background
  readonly seals: Seals
  readonly sealing: Sealing
  readonly puts: PutTransactions
  readonly beginLoad: OperatorRecords['beginLoad']
  readonly imports: {
    readonly lock: ImportLock
    /** By default that of requests. */
    readonly transact?: WaitingTransact
  }
  /** The tables that `clear` empties besides those of records. */
  readonly cleared: readonly string[]
}

/** Notifies readers that wait for the customer's events once these are gone. */
function erasing({ commands, dialect, clock, puts, sealing }: RecordSessions) {
  const { eraseSome, ...counting } = openEraser(commands, { ...sealing, dialect, clock })
  return {
    ...counting,
    eraseSome: async (...asked: Parameters<typeof eraseSome>) => {
      const part = await eraseSome(...asked)
      puts.committed?.([asked[0]])
      return part
    },
  }
}

/** The records over the sessions of an engine. */
export function openRecords(
  sessions: RecordSessions,
): Pick<Store, 'customers' | 'operator' | 'imports' | 'damage'> {
  const changes = openChangeWatch(sessions.changes, sessions.background)
  const { dialect, clock, requests, commands, seals } = sessions
  const { readPastRow = pastRowReader(requests, dialect) } = sessions
  const damage = openKnownDamage()
  const owners = openOwners({ ...sessions, numbers: seals.numbers, damage })
  const rows = storedRows(commands, dialect, seals)
  const requestedRows = storedRows(requests, dialect, seals)
  const put = openPutRecords(sessions.puts, clock, sessions.metrics, seals.numbers)
  const noteConsumed = openNoteConsumed(requests.transact, dialect, clock, seals.numbers)
  const resealing = openResealing({
    ...requests,
    ...sessions.sealing,
    dialect,
    clock,
    numbers: seals.numbers,
  })
  const operator: OperatorRecords = {
    beginLoad: sessions.beginLoad,
    exportLines: (resource, customerId) =>
      sessions.readSnapshot((session) =>
        exportLines(session, { dialect, seals }, resource, customerId),
      ),
    put: sealingPuts({
      put,
      seals,
      renew: resealing.renew,
      isIntact: async (resource, { customerId, id }) => {
        const stored = await requestedRows.find(resource, customerId, id)
        return stored === undefined || rowFaults(resource, stored).length === 0
      },
    }),
    customers: {
      ...openCustomerList(requests, dialect),
      countDeleted: openCountDeleted(commands, dialect),
      rename: openRename(commands.transact, dialect),
    },
    keys: seals.keys,
    forgetKeys: seals.forgetAll,
    resealing,
    ...openVersions(requests, dialect, seals),
    ...openPastPages(readPastRow, seals, owners.require),
    across: (resource) => openAcross(requests, dialect, resource, seals),
    ...openSearch(requests, dialect, () => indexKeysOf(sessions.sealing)),
    ...openPruner(requests.transact, dialect),
    ...erasing(sessions),
    changes: openChangeLog(requests, dialect, clock),
    latestChanges: openLatestChanges(requests, dialect),
    eventsOf: (customerId) => readEvents(requests, dialect, customerId, owners.require),
    noteConsumed: async (fee, deadline) => {
      await noteConsumed(fee, deadline)
      sessions.puts.committed?.([fee.customerId])
    },
    count: (resource) => countRecords(commands, dialect, resource),
    rewrite: openRewriter(commands.transact, dialect),
    rows,
    clear: () => clearRecords(commands.transact, dialect, sessions.cleared),
  }
  return {
    customers: {
      ...intactRecords(
        sessions.customers,
        damage,
        seals,
        owners,
        openIsTorn(sessions.ofTenant, dialect),
      ),
      ...openTenantPast({ ...sessions, requireOwner: owners.require }),
      changes,
    },
    operator,
    imports: openImports({
      rows: requests.rows,
      transact: (work) => requests.transact(work),
      dialect,
      clock,
      keyring: sessions.sealing.keyring,
      background: sessions.background,
      log: sessions.log,
      ...sessions.imports,
    }),
    damage: { ...damage, walkedRows: storedRows(sessions.walking, dialect, seals) },
  }
}
