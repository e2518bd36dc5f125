import type { Resource } from '../../../contract/resource.ts'
import { resources } from '../../../resources/catalogue.ts'
import { positionMicros } from '../../position.ts'
import type { SearchHit } from '../../records/history.ts'
import { type NamedRow, text } from '../row.ts'
import { searchedColumns, searchIndex } from '../schema/history-schema.ts'

type SearchDialect = {
  readonly tableName: (table: string) => string
  readonly indexedBy: (index: string) => string
  /** Adds a parameter of a type, and returns how the text names it. */
  readonly parameter: (value: string, type: 'text' | 'uuid') => string
  readonly count: (value: number) => string
}

export type LookUp = { readonly resource: Resource; readonly matched: string; readonly sql: string }

const isUuid = (query: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(query)

/** The shortest start of a memo that is looked up. */
const MEMO_START = 6

/**
 * The look-ups of a search, each by one index across customers. A column is compared as it is. An
 * address is compared in every spelling of its network, and a memo by its start.
 */
export function searchLookUps<D extends SearchDialect>(
  query: string,
  customerId: string | undefined,
  hitsMax: number,
  open: () => D,
): readonly (LookUp & { readonly dialect: D })[] {
  return resources.flatMap((resource) => {
    const { table } = resource
    const lookUp = (index: string, matched: string, condition: (d: SearchDialect) => string) => {
      const dialect = open()
      const { tableName, indexedBy, parameter, count } = dialect
      const own =
        customerId === undefined ? '' : `and customer_id = ${parameter(customerId, 'text')}`
      const sql = `
        select customer_id, id, position from ${tableName(table)} ${indexedBy(index)}
        where stored_at >= 0 and ${condition(dialect)} ${own} limit ${count(hitsMax)}`
      return { resource, matched, sql, dialect }
    }
    const isEqual = (column: string) => (d: SearchDialect) =>
      `${column} = ${d.parameter(query, 'text')}`
    const byId = isUuid(query)
      ? [
          lookUp(
            `${table}_identity`,
            'id',
            (d) => `id = ${d.parameter(query.toLowerCase(), 'uuid')}`,
          ),
        ]
      : []
    const byColumn = searchedColumns(resource).map((column) =>
      lookUp(searchIndex(table, column), column, isEqual(column)),
    )
    const byStart =
      query.length < MEMO_START
        ? []
        : resource.uniqueMembers.map((column) =>
            lookUp(`${table}_${column}_identity`, column, (d) => startsWith(column, query, d)),
          )
    const byKey = (resource.exclusive?.keysOf(query) ?? []).map((key) =>
      lookUp(
        `${table}_exclusive_key`,
        resource.exclusive?.members.at(-1) ?? '',
        (d) => `exclusive_key = ${d.parameter(key, 'text')}`,
      ),
    )
    return [...byId, ...byColumn, ...byStart, ...byKey]
  })
}

/** A range of the index, because the comparison is byte by byte. */
const startsWith = (column: string, start: string, { parameter }: SearchDialect): string => {
  const next = `${start}\u{10ffff}`
  return `${column} >= ${parameter(start, 'text')} and ${column} < ${parameter(next, 'text')}`
}

export const readHit = ({ resource, matched }: LookUp, row: NamedRow): SearchHit => ({
  kind: resource.kind,
  id: text(row, 'id'),
  customerId: text(row, 'customer_id'),
  at: positionMicros(row.position as Uint8Array),
  matched,
})

/** One hit for each record, by kind, whatever has matched. */
export function distinctHits(hits: readonly SearchHit[], hitsMax: number): readonly SearchHit[] {
  const byRecord = new Map(hits.toReversed().map((hit) => [`${hit.kind} ${hit.id}`, hit]))
  return [...byRecord.values()].toReversed().slice(0, hitsMax)
}
