import { systemTime } from '@bursar/base'
import {
  type AuditDeps,
  type AuditLog,
  type AuditReader,
  countLines,
  headsSince,
  insertLines,
  openAudit,
  openAuditReader,
  openRecordReads,
  type RecordReads,
  recordsLimits,
  whole,
} from '@bursar/records'
import { openFurther } from './database.ts'
import { dialect } from './dialect.ts'
import { credentialsSetup } from './fee-quotes.ts'
import { openTransactions } from './locks.ts'
import { openMigrated } from './migrate.ts'
import { openReads } from './session.ts'
import { type FileWriter, openWriterHere } from './thread/file-writer.ts'

/**
 * Writes the audit log to the file of the credentials, which no import locks. `confirmIntact`
 * throws a StoreUnavailable if the lines have gone to a file that is not at its path any more.
 */
export function openSqliteAudit(
  path: string,
  confirmIntact: () => void,
  deps: AuditDeps,
  served?: FileWriter,
): AuditLog {
  // Another part of a server has migrated the file.
  if (served === undefined) openMigrated(path, 'credentials').close()
  const { clock } = deps
  const writer = served ?? openWriterHere(path, { clock, setup: credentialsSetup })
  const log = openAudit(
    {
      append: async (lines, deadline) => {
        // A trigger may delete what was inserted, which the insert does not tell.
        const stored = await writer.transact(async (session) => {
          const [, [row = {}]] = await Promise.all([
            session.rows(insertLines(dialect, lines)),
            session.rows(countLines(dialect, lines)),
          ])
          return Number(whole(row, 'stored'))
        }, deadline)
        confirmIntact()
        return stored
      },
      heads: (since, chainsMax) =>
        writer.transact(
          ({ rows }) => rows(headsSince(dialect, since, chainsMax)),
          systemTime.elapsedMs() + recordsLimits.auditWriteMs,
        ),
      withinMs: recordsLimits.auditWriteMs,
      waitMs: recordsLimits.auditWriteMs,
    },
    deps,
  )
  const close = async () => {
    if (served === undefined) await writer.close()
  }
  return { ...log, close }
}

type ClosedReader = AuditReader & { close(): void }

/** Reads the audit log of an embedded store, also beside a server. */
export function openSqliteAuditReader(path: string): ClosedReader {
  const db = openMigrated(path, 'credentials')
  const writer = openFurther(path)
  const reader = openAuditReader({
    dialect,
    rows: openReads(db).rows,
    transact: openTransactions(writer),
  })
  const close = () => {
    writer.close()
    db.close()
  }
  return { ...reader, close }
}

/** Reads who saw records in full, from the file of the credentials. */
export function openSqliteRecordReads(path: string): RecordReads {
  const db = openMigrated(path, 'credentials')
  return { ...openRecordReads(openReads(db), dialect), close: async () => db.close() }
}
