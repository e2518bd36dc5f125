import type { OperatorRecords } from '../../records.ts'
import type { Value } from '../../session.ts'
import type { PastDialect } from '../../sql/history/past-dialect.ts'
import { pastPageQuery } from '../../sql/history/past-page.ts'
import { type ReadPastPage, verifiedPastPage } from '../../sql/history/read-past-page.ts'
import { readHit, searchLookUps } from '../../sql/history/search.ts'
import { openVersions } from '../../sql/history/versions.ts'
import type { Servers } from '../cluster/servers.ts'
import { type Row, textArray } from '../driver/connection.ts'

type Reads = Pick<OperatorRecords, 'find' | 'findAsOf' | 'pageAsOf' | 'history' | 'search'>

/** Reads what records were, and finds records of every customer, on the primary. */
export function openHistory(servers: Servers): Reads {
  return {
    ...openVersions({
      tableName,
      indexedBy,
      parameter: (number, type) => `$${number}::${type}`,
      ask: (text, values) => servers.rows({ text, values, prepare: true }),
    }),
    pageAsOf: async (resource, tenant, view, selection) => {
      const values: Value[] = []
      const text = pastPageQuery(resource, { tenant, view }, selection, pastDialect(values))
      const prepare = selection.anyOf.length <= PREPARED_FILTERS_MAX
      const [row = []] = await servers.query({ text, values, prepare })
      return verifiedPastPage(resource.kind, tenant, readRow(row), selection)
    },
    search: async (search) => {
      const found = searchLookUps(search, searchDialect).map(async (lookUp) => {
        const { sql: text, dialect } = lookUp
        const rows = await servers.rows({ text, values: dialect.values, prepare: true })
        return rows.map((row) => readHit(lookUp, row))
      })
      return (await Promise.all(found)).flat().slice(0, search.hitsMax)
    },
  }
}

/** Statements with more filters are planned each time; all combinations would fill the memory. */
const PREPARED_FILTERS_MAX = 1

function readRow(row: Row): ReadPastPage {
  const [items] = row
  const textOf = (at: number) => String(row[at] ?? '')
  return {
    items: items ?? new Uint8Array(0),
    bodies: Number(textOf(1)),
    positions: textOf(2),
    checksums: textOf(3),
    lengths: textOf(4),
    keptSince: row[5] == null ? undefined : BigInt(textOf(5)),
  }
}

const tableName = (table: string): string => `bursar.${table}`

/** The planner finds the index, because each is for one column and has its condition. */
const indexedBy = (): string => ''

export function searchDialect() {
  const values: Value[] = []
  const parameter = (value: string, type: 'text' | 'uuid') => `$${values.push(value)}::${type}`
  return { tableName, indexedBy, parameter, count: (value: number) => String(value), values }
}

/** Adds the parameters of one query to `values`. */
export function pastDialect(values: Value[]): PastDialect {
  const add = (value: Value, type: string): string => `$${values.push(value)}::${type}`
  return {
    tableName,
    indexedBy,
    states: { live: 'false', deleted: 'true' },
    jsonMember: (column, member) => `(${column}::json ->> '${member}')`,
    isAnyOf: (expression, list) => `${expression} = any(${list})`,
    valuesOf: (list) => `unnest(${list}) as entry (value)`,
    forEach: (each, query) => `
        select branch.* from unnest(${add(textArray(each), 'text[]')}) as entry (value)
        cross join lateral (${query('entry.value')}) as branch`,
    rowName: 'ctid',
    pastRow: 'past.row_id',
    aggregates: (order) => `
      string_agg(body, ',' order by position ${order}) as items, count(body)::text as bodies,
      string_agg(encode(position, 'hex'), '' order by position ${order}) as positions,
      string_agg(checksum::text, ',' order by position ${order}) as checksums,
      string_agg(octet_length(body)::text, ',' order by position ${order}) as lengths`,
    asText: (expression) => `${expression}::text`,
    bounded: (query, page) => `
      select * from (${query}
      ${page}) as bounded`,
    joinPast: (kind, at) => `
          left join lateral (
            select ctid as row_id, body, checksum, masked, masked_checksum, stored_at, deleted_at
            from bursar.superseded as earlier
            where record.stored_at > ${at} and earlier.customer_id = record.customer_id
              and earlier.kind = '${kind}' and earlier.id = record.id
              and earlier.stored_at <= ${at}
            order by earlier.stored_at desc limit 1) as past on true`,
    instant: (micros) => add(micros, 'bigint'),
    text: (value) => add(value, 'text'),
    bytes: (value) => add(value, 'bytea'),
    texts: (list, isId) => add(textArray(list), isId ? 'uuid[]' : 'text[]'),
    count: (value) => add(value, 'bigint'),
  }
}
