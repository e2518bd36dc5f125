import { type Metrics, systemTime } from '@bursar/base'
import {
  type CredentialStore,
  openCredentials,
  type Session,
  type Transact,
  whole,
} from '@bursar/records'
import { integrityFaults } from './database.ts'
import { dialect } from './dialect.ts'
import { credentialsSetup } from './fee-quotes.ts'
import { sqliteLimits } from './limits.ts'
import { retryWhileLocked } from './locks.ts'
import { openMigrated } from './migrate.ts'
import { openSession } from './session.ts'
import { type FileWriter, openWriterHere } from './thread/file-writer.ts'

type CredentialOptions = {
  readonly writeMs?: number
  readonly metrics?: Metrics | undefined
  /** The writer of a server. */
  readonly served?: FileWriter | undefined
}

/** Credentials have their own database file, so that a long import never blocks a token. */
export function openSqliteCredentials(
  path: string,
  { writeMs = sqliteLimits.storeWriteMs, metrics, served }: CredentialOptions = {},
): CredentialStore {
  const db = openMigrated(path, 'credentials')
  // A read between two statements of a transaction would see what is not committed.
  const writer = served ?? openWriterHere(path, { clock: systemTime.now, setup: credentialsSetup })
  const reading = openSession(db)
  const transact: Transact = (work, deadline = systemTime.elapsedMs() + writeMs) =>
    writer.transact(work, deadline)
  const methods = openCredentials({
    dialect,
    waitMs: sqliteLimits.storeWriteMs,
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
      if (served === undefined) await writer.close()
      db.close()
    },
  }
}

async function readRevision(session: Session): Promise<bigint> {
  const [row = {}] = await session.rows({ text: 'select value from credential_revision' })
  return whole(row, 'value')
}
