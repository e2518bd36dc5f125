import type { AuditReader } from '../audit.ts'
import type { Dialect } from '../dialect.ts'
import { whole } from '../row.ts'
import type { Reads, Transact } from '../session.ts'
import { auditStatements, readAnchor, readLine } from './audit-statements.ts'

type ReaderSessions = Reads & { readonly dialect: Dialect; readonly transact: Transact }

/** Reads the audit log in bounded pages, over the sessions of an engine. */
export function openAuditReader({ rows, transact, dialect }: ReaderSessions): AuditReader {
  const statements = auditStatements(dialect)
  return {
    lines: async (part) => (await rows(statements.inTime(part))).map(readLine),
    linesAfter: async (place, linesMax) =>
      (await rows(statements.after(place, linesMax))).map(readLine),
    strays: async () => {
      const [row = {}] = await rows(statements.strays())
      return whole(row, 'strays')
    },
    find: async (place) => {
      const [row] = await rows(statements.find(place))
      return row && readLine(row)
    },
    anchor: async (chain) => {
      const [row] = await rows(statements.anchor(chain))
      return row && readAnchor(row)
    },
    replaceBy: (anchor) =>
      transact(async (session) => {
        await session.rows(statements.setAnchor(anchor))
        await session.rows(statements.deleteUpTo(anchor))
        await session.rows(statements.deleteSeenUpTo(anchor))
      }),
    forgetMarks: (before) =>
      transact(async (session) => {
        await session.rows(statements.deleteOlderMarks)
        await session.rows(statements.deleteTokenEnds(before))
      }),
  }
}
