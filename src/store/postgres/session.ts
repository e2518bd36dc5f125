import type { Session } from '../session.ts'
import { storable } from './driver/cells.ts'
import type { Connection } from './driver/connection.ts'

/** A connection as the rules of the store use it. Text from a caller may hold a NUL. */
export const sessionOf = ({ rows }: Pick<Connection, 'rows'>): Session => ({
  rows: ({ values = [], ...statement }) =>
    rows({
      ...statement,
      values: values.map((value) => (typeof value === 'string' ? storable(value) : value)),
    }),
})

export const tableName = (table: string): string => `bursar.${table}`
