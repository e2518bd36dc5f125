import { DatabaseSync } from 'node:sqlite'
import { systemTime } from '@bursar/base'
import type { AuditEntry } from '@bursar/contract'
import {
  type AuditLine,
  type AuditReader,
  openAuditReader,
  openRecordReads,
  type RecordReads,
  type Session,
} from '@bursar/records'
import { storeEngine } from '@bursar/server/stores'
import { withPrimary } from '../../packages/postgres/src/cluster/with-primary.ts'
import { dialect as postgresDialect } from '../../packages/postgres/src/dialect.ts'
import { sessionOf } from '../../packages/postgres/src/session.ts'
import { dialect as sqliteDialect } from '../../packages/sqlite/src/dialect.ts'
import { retryWhileLocked } from '../../packages/sqlite/src/locks.ts'
import { openSession } from '../../packages/sqlite/src/session.ts'
import { configOf, type StoreLocation, unreadLog } from './harness.ts'
import type { StorePlace } from './store-place.ts'
import { addressesOf, testStore } from './test-database.ts'

/** Every line of a chain after a line, in the order of the chains. */
export async function allLines(reader: AuditReader): Promise<readonly AuditLine[]> {
  const lines: AuditLine[] = []
  for (;;) {
    const page = await reader.linesAfter(lines.at(-1), 500)
    lines.push(...page)
    if (page.length < 500) return lines
  }
}

/** The entries of the audit log of a service's store, in the order of their times. */
export const auditOf = async (place: StoreLocation): Promise<readonly AuditEntry[]> => {
  const { superuserUrl } = place
  const config = configOf({
    ...place.env,
    ...(superuserUrl !== undefined && { DATABASE_URL: superuserUrl }),
  })
  const engine = await storeEngine({ config, clock: systemTime.now, log: unreadLog() })
  return await engine.withAudit(async ({ reader }) => {
    const lines = await allLines(reader)
    const inTime = lines.toSorted((one, other) => Number(one.at - other.at))
    return inTime.map(({ body }): AuditEntry => JSON.parse(body))
  })
}

/** What somebody with all rights to the database can do behind the program's back. */
export type Behind = {
  readonly session: Session
  readonly reader: AuditReader
  readonly table: string
  readonly reads: Pick<RecordReads, 'list'>
}

/** One session past the program, in which a test may begin a transaction. */
export async function behindTheBack<T>(
  place: StorePlace,
  work: (behind: Behind) => Promise<T>,
): Promise<T> {
  const dialect = testStore === 'postgres' ? postgresDialect : sqliteDialect
  const over = (session: Session) => {
    const reader = openAuditReader({
      dialect,
      rows: session.rows,
      transact: (inside) => inside(session),
    })
    const reads = openRecordReads(session, dialect)
    return work({ session, reader, reads, table: dialect.auditTable('line') })
  }
  if (testStore === 'postgres') {
    const url = place.where.replace('//bursar@', '//postgres@')
    return withPrimary(addressesOf(url), (connection) => over(sessionOf(connection)))
  }
  using db = new DatabaseSync(place.where)
  return await over(openSession(db))
}

/** Runs SQL with all rights, behind the program’s back. TABLE is the table of lines. */
export async function changeAuditLog(place: StoreLocation, sql: string): Promise<void> {
  const { superuserUrl, commandUrl } = place
  if (superuserUrl !== undefined) {
    // Sessions of the program have no schema of their own in which a table is created.
    const text = `set search_path to public; ${sql.replaceAll('TABLE', 'bursar_audit.line')}`
    await withPrimary(addressesOf(superuserUrl), (connection) => connection.execute(text))
    return
  }
  using db = new DatabaseSync(commandUrl.replace(/^sqlite:(.*)\.db$/, '$1.credentials.db'))
  // A server writes in a thread, so a transaction of it may be under way.
  await retryWhileLocked(() => db.exec(sql.replaceAll('TABLE', 'audit_line')))
}
