import { type Clock, getOrInsert, limitsOf, openBackground, openLog } from '@bursar/base'
import { contractLimits, type Resource } from '@bursar/contract'
import {
  openRecords,
  openSeals,
  type ReadRecords,
  type Sealing,
  type Store,
  type TenantReads,
} from '@bursar/records'
import { openNotifier } from '../cluster/notify.ts'
import type { Servers } from '../cluster/servers.ts'
import { readSnapshot, transactOn } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import { bulkTransaction, readingSessions, setLocal } from '../driver/sessions.ts'
import { firstKeyTransactions } from '../import/first-keys.ts'
import { openImportLock } from '../import/import-lock.ts'
import { putTransactions } from '../import/put-transactions.ts'
import { beginSpooledImport, type SpooledImportDeps } from '../import/spooled-import.ts'
import { postgresLimits } from '../limits.ts'
import { rowsOf } from '../session.ts'
import { changesOf } from './listen-for-changes.ts'
import { type GetOne, openGetBatch, openRevisionBatch } from './look-ups.ts'
import { openPageBatch, type PageOne, readAlone } from './page-batch.ts'
import { isRange } from './page-query.ts'
import { openPastBatches } from './past-batch.ts'
import { tenantReads } from './tenant-reads.ts'

const limits = limitsOf({
  /**
   * PostgreSQL: how long a step waits for a lock, how long its statement runs, and when its session
   * is dropped. The server ends the statement first, so no session stays there without a client.
   */
  walkLockMs: 300,
  walkStatementMs: 1000,
  walkStepMs: 2000,
})

export type RecordServers = {
  /** Sessions of role `bursar`. */
  readonly customers: Servers
  /** Sessions of role `bursar_operator`; `customers` again if the process only serves those. */
  readonly operator: Servers
  /** The operator's sessions for requests, with deadlines; those for commands by default. */
  readonly ingest?: Servers | undefined
}

type LoadSettings = Pick<SpooledImportDeps, 'spools' | 'mergeMs'> & { readonly sealing: Sealing }

/** The records on PostgreSQL. The caller opens and closes the servers. */
export function openPostgresStore(
  { customers, operator, ingest = operator }: RecordServers,
  clock: Clock,
  { spools, mergeMs, sealing }: LoadSettings,
  log = openLog('silent'),
  background = openBackground(),
): Store {
  const notifiers = { puts: openNotifier(ingest), imports: openNotifier(operator) }
  const walk = transactOn(operator, walking, limits.walkStepMs)
  const requests = sessionsOf(ingest)
  const ofTenant: TenantReads = (tenant, must) => tenantReads(customers, tenant, must)
  const { metrics } = ingest
  const firstKeys = { ofTenant, transact: firstKeyTransactions(ingest) }
  const seals = openSeals({ ...sealing, ...firstKeys, dialect, clock, metrics })
  const records = openRecords({
    dialect,
    seals,
    sealing,
    clock,
    log,
    metrics,
    customers: customerRecords(customers),
    ofTenant,
    changes: changesOf(customers),
    background,
    requests,
    commands: sessionsOf(operator),
    walking: { rows: (statement) => walk((session) => session.rows(statement)) },
    readSnapshot: (read) => readSnapshot(operator, exporting, read),
    readPastRow: openPastBatches(ingest),
    puts: { ...putTransactions(ingest), committed: notifiers.puts.note },
    beginLoad: (resource, { isInServer = false, nameLine, signal } = {}) => {
      // Requests have their own deadline.
      const withinMs = isInServer ? contractLimits.streamMergeMs : mergeMs
      const { imports: notifier } = notifiers
      const deps = {
        servers: operator,
        notifier,
        spools,
        mergeMs: withinMs,
        clock,
        seals,
        nameLine,
        signal,
      }
      return beginSpooledImport(deps, resource)
    },
    cleared: [],
    imports: { lock: openImportLock(ingest) },
  })
  return {
    ...records,
    ping: customers.ping,
    servers: customers.states,
    // PostgreSQL checks its pages itself (data checksums); pg_amcheck needs a superuser.
    integrityFaults: async () => [],
    close: async () => {
      records.customers.changes.stop()
      records.imports.close()
      await Promise.all([notifiers.puts.sent(), notifiers.imports.sent()])
    },
  }
}

const sessionsOf = (servers: Servers) => ({ ...rowsOf(servers), transact: transactOn(servers) })

const exporting = setLocal(bulkTransaction(postgresLimits.operatorStatementMs))

/** Statements of the walk end soon on the server too, and read ranges of indexes alone. */
const walking = setLocal({
  ...readingSessions(limits.walkStatementMs),
  lock_timeout: limits.walkLockMs,
})

/** Every statement sets the tenant of row-level security and filters by it too. */
function customerRecords(servers: Servers): ReadRecords {
  const gets = new Map<string, GetOne>()
  const pages = { ASC: new Map<Resource, PageOne>(), DESC: new Map<Resource, PageOne>() }
  const openGet = (table: string) => openGetBatch(servers, table)
  const openPage = {
    ASC: (resource: Resource) => openPageBatch(servers, resource, 'ASC'),
    DESC: (resource: Resource) => openPageBatch(servers, resource, 'DESC'),
  }
  const revisionOf = openRevisionBatch(servers)
  return {
    revision: (tenant, { kind }) => revisionOf({ tenant, kind }),
    get: (tenant, { table }, id, includeDeleted) => {
      const get = getOrInsert(gets, table, openGet)
      return get({ tenant, id, includeDeleted })
    },
    page: (tenant, { resource }, selection) => {
      const { order } = selection
      if (!isRange(resource, selection)) return readAlone(servers, resource, { tenant, selection })
      const page = getOrInsert(pages[order], resource, openPage[order])
      return page({ tenant, selection })
    },
  }
}
