import { openBackground, openOnce } from '@bursar/base'
import type { AuditDeps, OpenedStores, SealedDeps } from '@bursar/records'
import { describingExhaustion } from './database.ts'
import { credentialsSetup, openSqliteFeeQuotes } from './fee-quotes.ts'
import { watchDamage } from './files/damage-watch.ts'
import { openedFiles } from './files/opened-files.ts'
import { requireFiles, storePaths } from './files/require-files.ts'
import { holdServing } from './files/server-lock.ts'
import { watchFiles } from './files/watch-files.ts'
import { openWriteProbe } from './files/write-probe.ts'
import { appliedAt } from './migrate.ts'
import { openSqliteAudit, openSqliteRecordReads } from './open-sqlite-audit.ts'
import { openSqliteCredentials } from './open-sqlite-credentials.ts'
import { openSqliteStore } from './open-sqlite-store.ts'
import { openSandboxState } from './sandbox/open-sandbox-state.ts'
import { openThreadWriter } from './thread/file-writer.ts'

/** A command opens the files, `migrate` creates them, and the one server watches them. */
export type EmbeddedMode = 'opened' | 'created' | 'served'

/**
 * Clients, keys and quotes have their own file, so that an import never blocks them. Throws a
 * StoreServed for a second server.
 */
export function openEmbeddedStores(sources: SealedDeps, mode: EmbeddedMode): OpenedStores {
  const { config, clock, log, sealing, background = openBackground(), metrics } = sources
  const paths = storePaths(config.databaseUrl)
  if (mode !== 'created') describingExhaustion(() => requireFiles(paths))
  const endServing = mode === 'served' ? holdServing(paths) : undefined
  const files = openedFiles()
  const noting = <S>(path: string, open: (path: string) => S) => {
    const opened = describingExhaustion(() => open(path))
    files.note(path)
    return opened
  }
  const { records: recordsPath, credentials: credentialsPath } = paths
  const records = openOnce(() =>
    noting(recordsPath, (path) => openSqliteStore(path, clock, sealing, log, background, metrics)),
  )
  const serving = openOnce(() =>
    openThreadWriter(credentialsPath, { clock, setup: credentialsSetup }),
  )
  const served = () => (mode === 'served' ? serving.open() : undefined)
  const credentials = openOnce(() =>
    noting(credentialsPath, (path) => openSqliteCredentials(path, { metrics, served: served() })),
  )
  const quotes = openOnce(() =>
    noting(credentialsPath, (path) => openSqliteFeeQuotes(path, clock, metrics, served())),
  )
  const reads = openOnce(() => noting(credentialsPath, openSqliteRecordReads))
  const sandbox = openOnce(() => openSandboxState(paths, clock, sealing))
  const probe = openWriteProbe(credentialsPath, (work, deadline) =>
    serving.open().transact(work, deadline),
  )
  const startWatch = () => {
    const jobs = { log, background }
    const damage = watchDamage({ ...jobs, paths: files.paths })
    return watchFiles({ ...jobs, files, probe, damage })
  }
  const watch = mode === 'served' ? startWatch() : undefined
  const confirmIntact = watch?.confirmIntact ?? files.confirm
  const audit = openOnce((key: AuditDeps['key']) =>
    noting(credentialsPath, (path) =>
      openSqliteAudit(path, confirmIntact, { clock, key, metrics }, served()),
    ),
  )
  return {
    records: records.open,
    credentials: credentials.open,
    quotes: quotes.open,
    reads: reads.open,
    audit: audit.open,
    schemaSteps: async () => [recordsPath, credentialsPath].flatMap(appliedAt),
    sandbox: sandbox.open,
    // There is no other server.
    claimIssuer: async () => undefined,
    servesOperator: true,
    watch,
    confirmIntact: files.confirm,
    close: async () => {
      await watch?.stop()
      await reads.close()
      await audit.close()
      await sandbox.close()
      await quotes.close()
      await credentials.close()
      await serving.close()
      await records.close()
      endServing?.()
    },
  }
}
