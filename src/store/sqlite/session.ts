import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Session } from '../session.ts'
import { prepare } from './database.ts'

/**
 * A session over one connection. It keeps every statement that it has prepared, so it is for a
 * fixed set of them. A statement ends within its call, and the event loop does not turn.
 */
export function openSession(db: DatabaseSync): Session {
  const prepared = new Map<string, StatementSync>()
  return {
    rows: async ({ text, values = [] }) => {
      const kept = prepared.get(text)
      if (kept !== undefined) return kept.all(...values)
      const statement = prepare(db, text.replaceAll(/\$(\d+)/g, '?$1'))
      prepared.set(text, statement)
      return statement.all(...values)
    },
  }
}
