import type { Resource } from '../../contract/resource.ts'
import { resources } from '../../resources/catalogue.ts'
import { type Dialect, openParameters, type Parameters } from '../dialect.ts'
import {
  type Position,
  positionId,
  positionMicros,
  positionOf,
  positionText,
  textPosition,
} from '../position.ts'
import type { Search, SearchHit } from '../records/history.ts'
import { isCurrent } from '../records/stored-record.ts'
import type { OperatorRecords } from '../records.ts'
import { bytes, type NamedRow, optionalText, text } from '../row.ts'
import { customerNumber, customerId as idOf } from '../schema/customers.ts'
import { searchedColumns } from '../schema/tables.ts'
import type { Reads, Statement } from '../session.ts'

/** Finds records of every customer by an identifier. */
export const openSearch = ({ rows }: Reads, dialect: Dialect): Pick<OperatorRecords, 'search'> => ({
  search: async (search) => {
    const found = searchLookUps(search, dialect).map(async (lookUp) => {
      const read = await rows(lookUp.statement)
      return read.map((row) => readHit(lookUp, row))
    })
    return (await Promise.all(found)).flat().slice(0, search.hitsMax)
  },
})

type LookUp = {
  readonly resource: Resource
  readonly matched: string
  readonly statement: Statement
  /** Its place in the order of all look-ups. */
  readonly number: bigint
}

const isUuid = (query: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(query)

/** The shortest start of a memo that is looked up. */
const MEMO_START = 6

type Condition = (parameters: Parameters) => string

/** What a look-up compares, by one index. */
type Comparison = {
  readonly index: string
  readonly matched: string
  readonly condition: Condition
  /** Whether it has at most one hit. */
  readonly isOne?: boolean
  /** The column that sorts its hits; without one, the order is that of lists, by customer. */
  readonly sortedBy?: string
}

/**
 * The look-ups of a search, each by one index across customers. A column is compared as it is. An
 * address is compared in every spelling of its network, and a memo by its start. A record that
 * several look-ups match is a hit of the first one. Those before the place `after` are left out.
 */
export function searchLookUps(
  { query, customerId, hitsMax, after }: Search,
  dialect: Dialect,
): readonly LookUp[] {
  const begun = after === undefined ? -1n : positionMicros(after)
  const all = resources.flatMap((resource) => {
    const comparisons = comparisonsOf(resource, query, dialect)
    return comparisons.map((comparison, at) => ({
      resource,
      comparison,
      earlier: comparisons.slice(0, at),
    }))
  })
  return all.flatMap(({ resource, comparison, earlier }, at) => {
    const number = BigInt(at)
    const { index, matched, condition, isOne = false, sortedBy } = comparison
    if (number < begun || (isOne && number === begun)) return []
    const { tableName, indexedBy } = dialect
    const parameters = openParameters(dialect)
    const { add, values } = parameters
    const conditions = [
      condition(parameters),
      ...(customerId === undefined
        ? []
        : [`customer = ${customerNumber(dialect, add(customerId, 'text'))}`]),
      ...earlier.map((other) => `(${other.condition(parameters)}) is not true`),
      ...(after === undefined || number > begun
        ? []
        : [
            sortedBy === undefined
              ? isLater(resource, after, parameters, dialect)
              : isAfter(sortedBy, after, parameters),
          ]),
    ]
    // SQLite would not take the order from an index with a column that it knows to be constant.
    const shown =
      sortedBy === undefined && !isOne && !resource.deletable
        ? 'not deleted'
        : isCurrent(resource, resource.table)
    const text = `
        select ${idOf(dialect, `${resource.table}.customer`)} as customer_id, position, ${sortedBy ?? 'cast(null as text)'} as sort_key
        from ${tableName(resource.table)} ${indexedBy(index)}
        where stored_at >= 0 and id_taken = false and ${shown}
          and ${conditions.join(' and ')}
        ${isOne ? '' : `order by ${sortedBy ?? LIST_ORDER}`} limit ${hitsMax}`
    return [{ resource, matched, statement: { text, values, prepare: true }, number }]
  })
}

function comparisonsOf(resource: Resource, query: string, dialect: Dialect): readonly Comparison[] {
  const { table, uniqueMembers, exclusive } = resource
  const { is } = dialect.listedId
  const compared = (index: string, matched: string, condition: Condition): Comparison => ({
    index,
    matched,
    condition,
  })
  const isEqual =
    (column: string, value = query): Condition =>
    ({ add }) =>
      `${column} = ${add(value, 'text')}`
  const byId = isUuid(query)
    ? [
        {
          ...compared(`${table}_by_id`, 'id', ({ add }) =>
            is(table, add(query.toLowerCase(), 'uuid')),
          ),
          isOne: true,
        },
      ]
    : []
  const byColumn = searchedColumns(resource).map((column) =>
    compared(`${table}_by_${column}`, column, isEqual(column)),
  )
  const byStart = (query.length < MEMO_START ? [] : uniqueMembers).map((column) => ({
    ...compared(`${table}_${column}_identity`, column, startsWith(column, query)),
    sortedBy: column,
  }))
  const byKey = (exclusive?.keysOf(query) ?? []).map((value) =>
    compared(`${table}_by_exclusive_key`, exclusive?.member ?? '', isEqual('exclusive_key', value)),
  )
  return [...byId, ...byColumn, ...byStart, ...byKey]
}

/** A range of the index, because the comparison is byte by byte. */
const startsWith =
  (column: string, start: string): Condition =>
  ({ add }) => {
    const next = `${start}\u{10ffff}`
    return `${column} >= ${add(start, 'text')} and ${column} < ${add(next, 'text')}`
  }

const LIST_ORDER = 'customer, deleted, position'

/** The hits that come later in the order of lists than the record of the last one. */
function isLater(
  { table, deletable }: Resource,
  after: Position,
  { add }: Parameters,
  { tableName, boolean, listedId: { is } }: Dialect,
): string {
  const id = add(positionId(after), 'uuid')
  const last = (column: string) => `(select ${column} from ${tableName(table)}
            where ${is(table, id)} and stored_at >= 0 and id_taken = false)`
  // The last hit may have been withdrawn since.
  const deleted = deletable ? last('deleted') : boolean(false)
  return `(${LIST_ORDER}) > (${last('customer')}, ${deleted}, ${last('position')})`
}

/** The hits of a look-up after the last one of the page before. */
const isAfter = (column: string, after: Position, { add }: Parameters): string =>
  `${column} > ${add(positionText(after), 'text')}`

/** Its place is the number of the look-up, and the id or the memo that sorts its hits. */
function readHit({ resource, matched, number }: LookUp, row: NamedRow): SearchHit {
  const position = bytes(row, 'position')
  const id = positionId(position)
  const memo = optionalText(row, 'sort_key')
  return {
    kind: resource.kind,
    id,
    customerId: text(row, 'customer_id'),
    at: positionMicros(position),
    matched,
    place: memo === undefined ? positionOf(number, id) : textPosition(number, memo),
  }
}
