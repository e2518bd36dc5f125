import { damageOf } from '@bursar/base'
import { type Resource, resources } from '@bursar/contract'
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
import { privateTerm } from '../records/terms.ts'
import type { OperatorRecords } from '../records.ts'
import { bytes, type NamedRow, optionalText, text } from '../row.ts'
import { customerNumber, customerId as idOf } from '../schema/customers.ts'
import { isCurrent, searchedColumns } from '../schema/tables.ts'
import type { Reads, Statement } from '../session.ts'
import { findByWords, hasTerm, type WordSearch } from './find-by-words.ts'

/**
 * Finds records of every customer by an identifier, or by words of names. One look-up follows the
 * other, so that a search takes one session of a database, until it has enough hits.
 */
export const openSearch = (
  reads: Reads,
  dialect: Dialect,
  /** The keys of the index. While one is renewed, some records have the older one yet. */
  indexKeys: () => Promise<readonly Uint8Array[]>,
): Pick<OperatorRecords, 'search'> => ({
  search: async (search) => {
    const keys = search.findsOwners ? await indexKeys() : []
    const hits: SearchHit[] = []
    for (const lookUp of searchLookUps(search, dialect, keys)) {
      const { look, number } = lookUp
      const { rows, stoppedAt } =
        'terms' in look
          ? await findByWords(reads, dialect, look, search.hitsMax)
          : { rows: await reads.rows(look), stoppedAt: undefined }
      hits.push(...rows.map((row) => readHit(lookUp, row)))
      if (hits.length >= search.hitsMax) break
      if (stoppedAt !== undefined) {
        return { hits, stoppedAt: positionOf(number, positionId(stoppedAt)) }
      }
    }
    return { hits, stoppedAt: undefined }
  },
})

type LookUp = {
  readonly resource: Resource
  readonly matched: string
  readonly look: Statement | WordSearch
  /** Its place in the order of all look-ups. */
  readonly number: bigint
}

export const isUuid = (query: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(query)

/** Whether a memo may start with the query, of which six characters are looked up. */
const isMemoStart = (query: string): boolean => /^[a-z0-9]{6,16}$/i.test(query)

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
  /** Terms, each of which the hits have. */
  readonly terms?: readonly string[]
}

/**
 * The look-ups of a search, each by one index across customers. A column is compared as it is. An
 * address is compared in every spelling of its network, and a memo by its start. A record that
 * several look-ups match is a hit of the first one. Those before the place `after` are left out,
 * and those that the query cannot match: a database may write what it is asked to its log.
 */
export function searchLookUps(
  search: Omit<Search, 'findsOwners'>,
  dialect: Dialect,
  indexKeys: readonly Uint8Array[] = [],
): readonly LookUp[] {
  const { query, customerId, after } = search
  const begun = after === undefined ? -1n : positionMicros(after)
  const all = resources.flatMap((resource) => {
    const comparisons = comparisonsOf(resource, query, dialect, indexKeys)
    return comparisons.map((comparison, at) => ({
      resource,
      comparison,
      earlier: comparisons.slice(0, at),
    }))
  })
  return all.flatMap((compared, at): readonly LookUp[] => {
    const number = BigInt(at)
    const { resource, comparison, earlier } = compared
    const { matched, isOne = false, terms } = comparison
    if (number < begun || (isOne && number === begun)) return []
    const place = number === begun ? after : undefined
    if (terms === undefined) {
      const look = lookUpOf(compared, { ...search, after: place }, dialect)
      return [{ resource, matched, look, number }]
    }
    const isOther = (parameters: Parameters) => matchesAny(earlier, parameters)
    const begunAfter = place && positionId(place)
    const look = { resource, terms, customerId, after: begunAfter, isOther }
    return [{ resource, matched, look, number }]
  })
}

type Compared = {
  readonly resource: Resource
  readonly comparison: Comparison
  /** Those whose hits come before. */
  readonly earlier: readonly Comparison[]
}

/** Selects the hits of a comparison after a place. */
function lookUpOf(
  { resource, comparison, earlier }: Compared,
  { customerId, hitsMax, after }: Omit<Search, 'findsOwners'>,
  dialect: Dialect,
): Statement {
  const { index, condition, isOne = false, sortedBy } = comparison
  const { tableName, indexedBy } = dialect
  const parameters = openParameters(dialect)
  const { add, values } = parameters
  const isAfterPlace = (place: Position) =>
    sortedBy === undefined
      ? isLater(resource, place, parameters, dialect)
      : isAfter(sortedBy, place, parameters)
  const conditions = [
    condition(parameters),
    ...(customerId === undefined
      ? []
      : [`customer = ${customerNumber(dialect, add(customerId, 'text'))}`]),
    ...(earlier.length === 0 ? [] : [`(${matchesAny(earlier, parameters)}) is not true`]),
    ...(after === undefined ? [] : [isAfterPlace(after)]),
  ]
  // SQLite would not take the order from an index with a column that it knows to be constant.
  const shown =
    sortedBy === undefined && !isOne && !resource.deletable
      ? 'not deleted'
      : isCurrent(resource, resource.table)
  const text = `
        select ${idOf(dialect, 'customer')} as customer_id, position, ${sortedBy ?? 'cast(null as text)'} as sort_key
        from ${tableName(resource.table)} ${indexedBy(index)}
        where stored_at >= 0 and id_taken = false and ${shown}
          and ${conditions.join(' and ')}
        ${isOne ? '' : `order by ${sortedBy ?? LIST_ORDER}`} limit ${hitsMax}`
  return { text, values, prepare: true }
}

const matchesAny = (comparisons: readonly Comparison[], parameters: Parameters): string =>
  comparisons.map(({ condition }) => `(${condition(parameters)})`).join(' or ') || 'false'

function comparisonsOf(
  resource: Resource,
  query: string,
  dialect: Dialect,
  indexKeys: readonly Uint8Array[],
): readonly Comparison[] {
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
  const identifiers = damageOf(query) === undefined ? searchedColumns(resource) : []
  const byColumn = identifiers.map((column) =>
    compared(`${table}_by_${column}`, column, isEqual(column)),
  )
  const byStart = (isMemoStart(query) ? uniqueMembers : []).map((column) => ({
    ...compared(`${table}_${column}_identity`, column, startsWith(column, query.toUpperCase())),
    sortedBy: column,
  }))
  const byKey = (exclusive?.keysOf(query) ?? []).map((value) =>
    compared(`${table}_by_exclusive_key`, exclusive?.member ?? '', isEqual('exclusive_key', value)),
  )
  return [
    ...byId,
    ...byColumn,
    ...byStart,
    ...byKey,
    ...byTerms(resource, query, dialect, indexKeys),
  ]
}

/** By the terms of the kind, such as the words of a bank; by private ones only with a key. */
function byTerms(
  { table, terms }: Resource,
  query: string,
  dialect: Dialect,
  indexKeys: readonly Uint8Array[],
): readonly Comparison[] {
  if (terms?.sought === undefined) return []
  return terms.sought(query).flatMap(({ matched, names, isPrivate = false }) => {
    if (names.length === 0) return []
    const spellings = isPrivate
      ? indexKeys.map((key) => names.map((name) => privateTerm(terms, key, name)))
      : [names.map((name) => `${terms.letter}${name}`)]
    return spellings.map((stored) => {
      const condition: Condition = ({ add }) =>
        stored.map((name) => hasTerm(dialect, table, add(name, 'text'))).join(' and ')
      return { index: '', matched, condition, terms: stored }
    })
  })
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
