import { openOnce, type ServerAddress } from '@bursar/base'
import {
  type AuditDeps,
  type OpenedStores,
  openRecordReads,
  openSpoolsOf,
  type RecordReads,
  recordsLimits,
  type SealedDeps,
  type Sealing,
  type StoreDeps,
  type StoredRows,
} from '@bursar/records'
import { withPrimary } from './cluster/with-primary.ts'
import { dialect } from './dialect.ts'
import { openPostgresFeeQuotes } from './fee-quotes.ts'
import { openPostgresAudit } from './open-postgres-audit.ts'
import { openPostgresCredentials } from './open-postgres-credentials.ts'
import { openOperatorServers, openServiceSessions, type PostgresSessions } from './open-sessions.ts'
import { openPostgresStore } from './records/open-postgres-store.ts'
import { ownerRows, schemaFaults } from './schema/check-schema.ts'
import { appliedTo } from './schema/migrate.ts'
import { rowsOf } from './session.ts'

export { lastArchivedAt, postgresChecks, primaryOf } from './inspect/postgres-checks.ts'
export { withOwnedAudit } from './open-postgres-audit.ts'
export { poolerSettings } from './open-sessions.ts'
export { compactPostgres } from './schema/compact.ts'
export { migratePostgres } from './schema/migrate.ts'

/** Opens a server's stores: one role for customers, another for the operator. */
export async function openServicePostgres(
  sources: SealedDeps,
  primaries: readonly ServerAddress[],
): Promise<OpenedStores> {
  const sessions = await openServiceSessions(sources, primaries)
  return postgresStores(sources, sessions, sources.config.databaseTimeoutMs)
}

/** Opens the stores of a command, which sees all customers. */
export async function openOperatorPostgres(
  sources: SealedDeps,
  url: string,
): Promise<OpenedStores> {
  const operator = await openOperatorServers(sources, url)
  const { close } = operator
  const sessions = { customers: operator, credentials: operator, operator, close }
  return postgresStores(sources, sessions, recordsLimits.auditWriteMs)
}

/** Checks the schema and passes the stored records to `checkRecords`, as the owner. */
export function checkPostgres<T>(
  addresses: readonly ServerAddress[],
  { clock, sealing }: Pick<StoreDeps, 'clock'> & { readonly sealing: Sealing },
  checkRecords: (rows: StoredRows) => Promise<T>,
): Promise<{ readonly faults: readonly string[]; readonly records: T }> {
  return withPrimary(addresses, async (owner) => ({
    faults: await schemaFaults(owner),
    records: await checkRecords(ownerRows(owner, sealing, clock)),
  }))
}

function postgresStores(
  sources: SealedDeps,
  opened: PostgresSessions,
  auditMs: number,
): OpenedStores {
  const { customers, operator, ingest } = opened
  const spools = openSpoolsOf(sources.config)
  const mergeMs = 1000 * sources.config.importMergeSecondsMax
  const records = openOnce(() =>
    openPostgresStore(
      { customers, operator: operator ?? customers, ingest },
      sources.clock,
      { spools, mergeMs, sealing: sources.sealing },
      sources.log,
      sources.background,
    ),
  )
  const credentials = openOnce(() => openPostgresCredentials(opened.credentials))
  const quotes = openOnce(() =>
    openPostgresFeeQuotes({ customers, operator, withinMs: sources.config.databaseTimeoutMs }),
  )
  const reads = (): RecordReads => ({
    ...openRecordReads(rowsOf(ingest ?? operator ?? customers), dialect),
    close: async () => {},
  })
  const audit = openOnce((key: AuditDeps['key']) =>
    openPostgresAudit(opened.credentials, auditMs, {
      clock: sources.clock,
      key,
      metrics: sources.metrics,
    }),
  )
  return {
    audit: audit.open,
    schemaSteps: () => opened.credentials.onPrimary(appliedTo),
    records: records.open,
    credentials: credentials.open,
    quotes: quotes.open,
    reads,
    sandbox: undefined,
    claimIssuer: customers.claimIssuer,
    servesOperator: operator !== undefined,
    watch: undefined,
    confirmIntact: () => {},
    close: async () => {
      await records.close()
      await audit.close()
      await credentials.close()
      await quotes.close()
      await opened.close()
    },
  }
}
