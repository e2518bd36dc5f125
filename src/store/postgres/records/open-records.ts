import type { Clock } from '../../../platform/clock.ts'
import { limits } from '../../../platform/limits.ts'
import { openLog } from '../../../platform/log.ts'
import { resources } from '../../../resources/catalogue.ts'
import { openDamageList } from '../../integrity/damage.ts'
import { logDamage, openDamageScan } from '../../integrity/damage-scan.ts'
import { verifiedOperator } from '../../integrity/verified-operator.ts'
import { verifiedRecords } from '../../integrity/verified-records.ts'
import { readJournal } from '../../merge/journal.ts'
import { openKeptAnswers } from '../../merge/kept-answers.ts'
import { openPutRecords } from '../../merge/put-queue.ts'
import type { OperatorRecords, Store } from '../../records.ts'
import { historyTables, recordTables } from '../../schema/tables.ts'
import { isCurrent } from '../../sql/export-line.ts'
import { openHistory } from '../../versions/open-history.ts'
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import { putTransactions } from '../import/put-transactions.ts'
import { beginSpooledImport, type SpooledImportDeps } from '../import/spooled-import.ts'
import { rowsOf, sessionOf } from '../session.ts'
import { customerRecords } from './customer-records.ts'
import { exportLines } from './export.ts'
import { scannedRows, storedRows } from './stored-rows.ts'

export type RecordServers = {
  /** Sessions of role `bursar`. */
  readonly customers: Servers
  /** Sessions of role `bursar_operator`; `customers` again if the process only serves those. */
  readonly operator: Servers
  /** The operator's sessions for requests, with deadlines; those for commands by default. */
  readonly ingest?: Servers | undefined
}

/** The records on PostgreSQL. The caller opens and closes the servers. */
export function openPostgresStore(
  { customers, operator, ingest = operator }: RecordServers,
  clock: Clock,
  { spools, mergeMs }: Pick<SpooledImportDeps, 'spools' | 'mergeMs'>,
  log = openLog('silent'),
): Store {
  const damage = openDamageList(logDamage(log))
  const records: OperatorRecords = {
    beginLoad: (resource, { isInServer = false, nameLine } = {}) => {
      // Requests have a deadline of their own.
      const withinMs = isInServer ? limits.streamMergeMs : mergeMs
      const deps = { servers: operator, spools, mergeMs: withinMs, clock, nameLine }
      return beginSpooledImport(deps, resource)
    },
    exportLines: (resource, customerId) => exportLines(operator, resource, customerId),
    put: openPutRecords(putTransactions(ingest), clock),
    ...openHistory({
      ...rowsOf(ingest),
      transact: (work) => inTransaction(ingest, (connection) => work(sessionOf(connection))),
      dialect,
    }),
    answers: openKeptAnswers(rowsOf(ingest), dialect, clock),
    count: async (resource) => {
      const text = `select count(*) from bursar.${resource.table} as record where ${isCurrent(resource, 'record')}`
      const [row] = await operator.query({ text })
      return Number(row?.[0])
    },
    rows: storedRows(operator),
    journal: (entriesMax) => readJournal(rowsOf(operator), dialect, entriesMax),
    clear: () =>
      inTransaction(operator, async (connection) => {
        for (const table of [...recordTables, ...historyTables]) {
          await connection.execute(`delete from bursar.${table}`)
        }
        // The next page of each kind must not have the entity tag of a page from before.
        await connection.execute('update bursar.revision set changed_at = changed_at + 1')
      }),
  }
  return {
    customers: verifiedRecords(customerRecords(customers), damage),
    operator: verifiedOperator(records, damage),
    damage: openDamageScan(resources, scannedRows(operator), damage),
    ping: customers.ping,
    servers: customers.states,
    // PostgreSQL checks its pages itself (data checksums); pg_amcheck needs a superuser.
    integrityFaults: async () => [],
    close: async () => {},
  }
}
