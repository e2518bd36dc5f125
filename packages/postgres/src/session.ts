import type { Session, Staging, Value } from '@bursar/records'
import { type Connection, hexOf, textArray } from './driver/connection.ts'

/** A connection as the rules of the store use it. Text from a caller may hold a NUL. */
export function sessionOf(connection: Connection): Session {
  const { rows } = rowsOf(connection)
  return {
    rows,
    run: connection.execute,
    stage: async (staging, staged) => {
      await rows(insertOf(staging, staged))
    },
    iterate: async function* (statement) {
      await rows({ ...statement, text: `declare iterated cursor for ${statement.text}` })
      for (let isEnd = false; !isEnd; ) {
        const fetched = await rows({ text: `fetch ${ROWS_AT_ONCE} from iterated` })
        yield* fetched
        isEnd = fetched.length < ROWS_AT_ONCE
      }
      await connection.execute('close iterated')
    },
  }
}

/** The same for single statements, each in any session. */
export const rowsOf = ({ rows }: Pick<Connection, 'rows'>): Pick<Session, 'rows'> => ({
  rows: ({ values = [], ...statement }) => rows({ ...statement, values: values.map(storable) }),
})

/** Bounds the memory of an iteration. */
const ROWS_AT_ONCE = 500

/** One array for each column, so that the text of the statement is the same for all batches. */
function insertOf(staging: Staging, rows: readonly (readonly Value[])[]) {
  const { table, columns, computed = {} } = staging
  const names = Object.keys(columns)
  const into = [...names, ...Object.keys(computed)].join(', ')
  const values = ['line.*', ...Object.values(computed)].join(', ')
  const arrays = Object.values(columns).map((type, at) => `$${at + 1}::${arrayOf(type)}`)
  return {
    text: `insert into ${table} (${into})
      select ${values} from unnest(${arrays.join(', ')}) as line (${names.join(', ')})`,
    values: names.map((_name, at) => textArray(rows.map((row) => textOf(row[at] ?? null)))),
    prepare: true,
  }
}

const arrayOf = (type: string): string => `${type.replace(' collate "C"', '')}[]`

const textOf = (value: Value): string | null =>
  value instanceof Uint8Array ? hexOf(value) : value === null ? null : String(value)

/** Replaces NUL, which PostgreSQL cannot store, as the driver replaces half a surrogate pair. */
const storable = (value: Value): Value =>
  typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value
