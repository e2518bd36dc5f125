import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { OperatorRecords } from '../../records.ts'
import type { PastDialect } from '../../sql/history/past-dialect.ts'
import { pastPageQuery } from '../../sql/history/past-page.ts'
import { type ReadPastPage, verifiedPastPage } from '../../sql/history/read-past-page.ts'
import { readHit, searchLookUps } from '../../sql/history/search.ts'
import { openVersions } from '../../sql/history/versions.ts'
import { statementCache } from '../customers/customer-records.ts'
import { guarded, prepare } from '../database.ts'

type Reads = Pick<OperatorRecords, 'find' | 'findAsOf' | 'pageAsOf' | 'history' | 'search'>

/** Reads what records were, and finds records of every customer. */
export function openHistory(db: DatabaseSync): Reads {
  const prepared = statementCache(db)
  const rows = (sql: string, values: readonly SQLInputValue[]) =>
    guarded(() => prepare(db, sql).all(...values))
  return {
    ...openVersions({
      tableName,
      indexedBy,
      parameter: () => '?',
      ask: async (sql, values) => rows(sql, values),
    }),
    pageAsOf: async (resource, tenant, view, selection) => {
      const parameters: Record<string, SQLInputValue> = {}
      const dialect = pastDialect(parameters)
      const sql = pastPageQuery(resource, { tenant, view }, selection, dialect)
      const row = guarded(() => prepared(sql).get(parameters)) ?? {}
      return verifiedPastPage(resource.kind, tenant, readRow(row), selection)
    },
    search: async (search) => {
      const hits = searchLookUps(search, searchDialect).flatMap((lookUp) =>
        rows(lookUp.sql, lookUp.dialect.values).map((row) => readHit(lookUp, row)),
      )
      return hits.slice(0, search.hitsMax)
    },
  }
}

const readRow = (row: Readonly<Record<string, unknown>>): ReadPastPage => ({
  items: row.items instanceof Uint8Array ? row.items : new Uint8Array(0),
  bodies: Number(row.bodies ?? 0),
  positions: String(row.positions ?? ''),
  checksums: String(row.checksums ?? ''),
  lengths: String(row.lengths ?? ''),
  keptSince: row.kept_since == null ? undefined : BigInt(Number(row.kept_since)),
})

const tableName = (table: string): string => table

const indexedBy = (index: string): string => `indexed by ${index}`

export function searchDialect() {
  const values: SQLInputValue[] = []
  const parameter = (value: string) => {
    values.push(value)
    return '?'
  }
  return { tableName, indexedBy, parameter, count: (value: number) => String(value), values }
}

/** Notes the parameters of one query by their names. */
export function pastDialect(parameters: Record<string, SQLInputValue>): PastDialect {
  const add = (value: SQLInputValue): string => {
    const name = `p${Object.keys(parameters).length}`
    parameters[name] = value
    return `:${name}`
  }
  return {
    tableName,
    indexedBy,
    states: { live: '0', deleted: '1' },
    jsonMember: (column, member) => `json_extract(${column}, '$.${member}')`,
    isAnyOf: (expression, values) => `${expression} in (select value from json_each(${values}))`,
    valuesOf: (values) => `(select value from json_each(${values})) as entry`,
    forEach: (values, query) =>
      values.map((value) => `select * from (${query(add(value))})`).join('\n        union all\n'),
    rowName: 'rowid',
    pastRow: 'past.rowid',
    // The rows come in the order of their subquery.
    aggregates: () => `
      cast(group_concat(body) as blob) as items, count(body) as bodies,
      group_concat(hex(position), '') as positions,
      group_concat(checksum) as checksums, group_concat(octet_length(body)) as lengths`,
    asText: (expression) => expression,
    bounded: (query) => query,
    // The last version from before is the one that was in force then.
    joinPast: (kind, at) => `
          left join superseded as past on past.rowid = case when record.stored_at > ${at} then (
            select rowid from superseded as earlier
            where earlier.customer_id = record.customer_id and earlier.kind = '${kind}'
              and earlier.id = record.id and earlier.stored_at <= ${at}
            order by earlier.stored_at desc limit 1) end`,
    instant: add,
    text: add,
    bytes: add,
    texts: (values) => add(JSON.stringify(values)),
    count: add,
  }
}
