import { printInstant } from '@bursar/base'
import { type Filter, filtersOf, type List } from './contract.ts'
import { type Item, present, textOf, timeOf } from './json.ts'

export type Query = Readonly<Record<string, string | readonly string[]>>

/** `?ids=a&ids=b`, or nothing for no parameter. */
export function queryOf(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, each]),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

/** A filter or a bound with a value, and the records that it selects. */
export type Condition = {
  readonly name: string
  readonly query: Query
  readonly matches: (item: Item) => boolean
}

export const byValues = (
  name: string,
  { member }: Filter,
  values: readonly string[],
): Condition => ({
  name,
  query: { [name]: values },
  matches: (item) => values.some((value) => value === textOf(item, member)),
})

export function byBound(name: string, { bounds, sortedBy }: List, bound: bigint): Condition {
  const matches = (item: Item) => {
    const time = timeOf(item, sortedBy)
    return time !== undefined && bounds[name]?.(time, bound) === true
  }
  return { name, query: { [name]: printInstant(bound) }, matches }
}

/** A query that reaches a record. */
export type Way = {
  /** Names of the parameters, such as `ref_ids and include_deleted`. */
  readonly name: string
  readonly query: Query
}

/**
 * The queries that reach a record: by each filter and each bound of its list, and all of them again
 * with the flag for deleted records. What a list hides must stay hidden on each of them.
 */
export function waysTo(item: Item, list: List): readonly Way[] {
  const plain = [...byFilters(item, list), ...byBounds(item, list)]
  const { deletedFlag } = list
  if (deletedFlag === undefined) return plain
  const flagged = plain.map(({ name, query }) => ({
    name: `${name} and ${deletedFlag}`,
    query: { ...query, [deletedFlag]: 'true' },
  }))
  return [...plain, ...flagged]
}

const byFilters = (item: Item, list: List): readonly Way[] =>
  Object.entries(filtersOf(list)).flatMap(([name, { member }]) => {
    const value = textOf(item, member)
    return value === undefined ? [] : [{ name, query: { [name]: value } }]
  })

/** In the order that puts the record on the first page, unless others have the same time. */
function byBounds(item: Item, list: List): readonly Way[] {
  const time = timeOf(item, list.sortedBy)
  if (time === undefined) return []
  return Object.entries(list.bounds).map(([name, passes]) => {
    // Inside a bound rather than on it, which other statements are about.
    const bound = [time + 1n, time - 1n, time].find((at) => passes(time, at)) ?? time
    const order = passes(bound + 1n, bound) ? 'ASC' : 'DESC'
    return { name, query: { [name]: printInstant(bound), order, limit: '20' } }
  })
}

/** One way for each filter and bound that some of the items have, to the fullest item. */
export function waysToAny(items: readonly Item[], list: List): readonly Way[] {
  const ways = new Map<string, Way>()
  const names = Object.keys(filtersOf(list)).length + Object.keys(list.bounds).length
  const wanted = list.deletedFlag === undefined ? names : 2 * names
  const sized = items.map((item) => ({ item, size: JSON.stringify(item).length }))
  for (const { item } of sized.toSorted((a, b) => b.size - a.size)) {
    for (const way of waysTo(item, list)) if (!ways.has(way.name)) ways.set(way.name, way)
    if (ways.size === wanted) break
  }
  return [...ways.values()]
}

/** The queries of a single read: none, and the flag for deleted records. */
export const readQueriesOf = ({ deletedFlag }: List): readonly string[] =>
  deletedFlag === undefined ? [''] : ['', `?${deletedFlag}=true`]

/** The values of a member that occur, each once, in the order of the items. */
export const valuesOf = (items: readonly Item[], member: string): readonly string[] => [
  ...new Set(items.map((item) => textOf(item, member)).filter(present)),
]
