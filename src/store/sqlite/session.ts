import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Session, Value } from '../session.ts'
import { prepare } from './database.ts'

/**
 * A session over one connection. It keeps every statement that it has prepared, so it is for a
 * fixed set of them. A statement ends within its call, and the event loop does not turn.
 */
export function openSession(db: DatabaseSync): Session {
  const prepared = new Map<string, StatementSync>()
  const statementOf = (text: string) => {
    const known = prepared.get(text)
    if (known !== undefined) return known
    const statement = prepare(db, text)
    prepared.set(text, statement)
    return statement
  }
  return {
    rows: async ({ text, values = [] }) => statementOf(text).all(...values.map(inputOf)),
    run: async (text) => db.exec(text),
    stage: async ({ table, columns }, rows) => {
      const names = Object.keys(columns)
      const insert = statementOf(
        `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
      )
      for (const row of rows) insert.run(...row.map(inputOf))
    },
    iterate: async function* ({ text, values = [] }) {
      yield* statementOf(text).iterate(...values.map(inputOf))
    },
  }
}

/** Node binds a number as a real, which a column without a type would keep. */
export function inputOf(value: Value): SQLInputValue {
  return typeof value === 'number' || typeof value === 'boolean' ? BigInt(value) : value
}
