import { limits } from '../../platform/limits.ts'
import type { Metrics } from '../../platform/metrics/metrics.ts'
import { openCredentials } from '../credentials/open-credentials.ts'
import type { CredentialStore } from '../credentials.ts'
import { whole } from '../row.ts'
import type { Session } from '../session.ts'
import { integrityFaults, openFurther } from './database.ts'
import { dialect } from './dialect.ts'
import { openTransactions, retryWhileLocked } from './locks.ts'
import { openMigrated } from './migrate.ts'
import { openSession } from './session.ts'

/** Credentials have their own database file, so that a long import never blocks a token. */
export function openSqliteCredentials(
  path: string,
  writeMs?: number,
  metrics?: Metrics,
): CredentialStore {
  const db = openMigrated(path, 'credentials')
  // A read between two statements of a transaction would see what is not committed.
  const writer = openFurther(path)
  const reading = openSession(db)
  const transact = openTransactions(writer, writeMs)
  const methods = openCredentials({
    dialect,
    waitMs: limits.storeWriteMs,
    metrics,
    rows: (statement) => retryWhileLocked(() => reading.rows(statement)),
    read: (work) => retryWhileLocked(async () => work(reading, await readRevision(reading))),
    write: transact,
    change: (work) =>
      transact(async (session) => {
        // First, so that the changed rows carry the new revision.
        await session.rows({ text: 'update credential_revision set value = value + 1' })
        return await work(session)
      }),
    // A file that was restored may be older than what the caller has seen.
    numberSince: (since, revision) => (since === undefined || since > revision ? undefined : since),
    // SQLite sends no notifications; the caller polls the revision, which is cheap.
    onChange: () => () => {},
  })
  return {
    ...methods,
    integrityFaults: async () => integrityFaults(db),
    close: async () => {
      writer.close()
      db.close()
    },
  }
}

async function readRevision(session: Session): Promise<bigint> {
  const [row = {}] = await session.rows({ text: 'select value from credential_revision' })
  return whole(row, 'value')
}
