import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { inStatement, type Session, type Staging, type Value } from '@bursar/records'
import { failureOf, guarded, prepare } from './database.ts'

/**
 * A session over one connection. It keeps every statement that it has prepared, so it is for a
 * fixed set of them. A statement ends within its call, and the event loop does not turn.
 */
export function openSession(db: DatabaseSync): Session {
  const statementOf = statementCache((text) => prepare(db, text), Number.POSITIVE_INFINITY)
  return {
    rows: async ({ text, values = [] }) =>
      inStatement('sqlite', text, () => statementOf(text).all(...values.map(inputOf))),
    run: async (text) => inStatement('sqlite', text, () => db.exec(text)),
    stage: async (staging, rows) => {
      const text = insertInto(staging)
      inStatement('sqlite', text, () => {
        const insert = statementOf(text)
        for (const row of rows) insert.run(...row)
      })
    },
    iterate: async function* ({ text, values = [] }) {
      yield* statementOf(text).iterate(...values.map(inputOf))
    },
  }
}

export function insertInto({ table, columns, computed = {} }: Staging): string {
  const names = Object.keys(columns)
  const into = `insert into ${table} (${[...names, ...Object.keys(computed)].join(', ')})`
  const expressions = Object.values(computed)
  if (expressions.length === 0) return `${into} values (${names.map(() => '?').join(', ')})`
  const line = `(select ${names.map((name) => `? as ${name}`).join(', ')}) as line`
  return `${into} select ${['line.*', ...expressions].join(', ')} from ${line}`
}

/** Reads by many different statements, of which it keeps those used last. */
export function openReads(db: DatabaseSync): Pick<Session, 'rows' | 'iterate'> {
  const statementOf = statementCache((sql) => prepare(db, sql))
  return {
    rows: async ({ text, values = [] }) =>
      inStatement('sqlite', text, () =>
        guarded(() => statementOf(text).all(...values.map(inputOf))),
      ),
    // Two iterations may run at the same time, so each has its own statement.
    iterate: async function* ({ text, values = [] }) {
      try {
        yield* prepare(db, text).iterate(...values.map(inputOf))
      } catch (error) {
        throw failureOf(error)
      }
    },
  }
}

/** More than all clients use at a time. A prepared statement takes up to 300 KB. */
const STATEMENTS_MAX = 100

/** Keeps the statements used last, because filters combine into some thousand statements. */
export function statementCache(
  prepareOne: (sql: string) => StatementSync,
  statementsMax = STATEMENTS_MAX,
): (sql: string) => StatementSync {
  const prepared = new Map<string, { readonly statement: StatementSync; usedAt: number }>()
  let uses = 0
  return (sql) => {
    uses += 1
    const known = prepared.get(sql)
    if (known !== undefined) {
      known.usedAt = uses
      return known.statement
    }
    const statement = prepareOne(sql)
    prepared.set(sql, { statement, usedAt: uses })
    if (prepared.size > statementsMax) dropOldest(prepared)
    return statement
  }
}

/** Putting an entry at the end of its Map with every use would make garbage of the whole table. */
function dropOldest(entries: Map<string, { readonly usedAt: number }>): void {
  const [oldest] = [...entries].reduce((one, other) =>
    one[1].usedAt < other[1].usedAt ? one : other,
  )
  entries.delete(oldest)
}

/** Node binds a number as a real, which only a column with a type makes whole. */
export function inputOf(value: Value): SQLInputValue {
  return typeof value === 'number' || typeof value === 'boolean' ? BigInt(value) : value
}
