import document from './contract.json' with { type: 'json' }
import { named, openShapes, type Shape } from './shape.ts'

/** A filter on one member of a record. */
export type Filter = {
  readonly member: string
  /** At most as many entries; one for a parameter that is given once. */
  readonly entriesMax: number
  /** The values are those of an enum, so that no other value can be filtered for. */
  readonly isEnum: boolean
}

type Filters = Readonly<Record<string, Filter>>

/** Whether a record of a time passes a bound. */
type Passes = (time: bigint, bound: bigint) => boolean

/** A list operation of the contract, as far as the statements need it. */
export type List = {
  readonly name: string
  readonly path: string
  /** Of the contract. */
  readonly section: string
  readonly scope: string
  readonly envelope: string
  /** The member of the records' order. */
  readonly sortedBy: string
  /** The filter on record ids. */
  readonly ids: string
  readonly shape: Shape
  /** Filters that the contract shows. */
  readonly filters: Filters
  /** Filters that Bursar adds. */
  readonly additions: Filters
  /** Bounds of the time of creation. */
  readonly bounds: Readonly<Record<string, Passes>>
  /** Whether order_by is a parameter. */
  readonly takesOrderBy?: boolean
  readonly requiredParameter?: string
  /** The flag that shows deleted records too. */
  readonly deletedFlag?: string
  /** The contract mentions the operation without its path. */
  readonly isMentionedOnly?: boolean
}

/** An operation that reads one record. */
export type SingleRead = {
  readonly list: List
  readonly section: string
  readonly shape: Shape
  /** Bursar's `detail` for an unknown id. */
  readonly unknownDetail: (id: string) => string
}

type ListDocument = Omit<List, 'name' | 'ids' | 'shape' | 'filters' | 'additions' | 'bounds'> & {
  readonly shape: string
  readonly entriesMax: number
  /** Filters of one entry. */
  readonly givenOnce?: readonly string[]
  /** Filters on values of an enum. */
  readonly enums?: readonly string[]
  /** Filter and member. */
  readonly filters: Readonly<Record<string, string>>
  readonly additions: Readonly<Record<string, string>>
  /** Prefix and sides. */
  readonly bounds: Readonly<Record<string, readonly string[]>>
}

export const { pageSize } = document

const shapeOf = openShapes(document.values, document.objects)

const sides: Readonly<Record<string, Passes>> = {
  gte: (time, bound) => time >= bound,
  gt: (time, bound) => time > bound,
  lte: (time, bound) => time <= bound,
  lt: (time, bound) => time < bound,
  eq: (time, bound) => time === bound,
  begin: (time, bound) => time >= bound,
  end: (time, bound) => time <= bound,
}

function listOf(name: string, stated: ListDocument): List {
  const { entriesMax, givenOnce = [], enums = [], ...rest } = stated
  const filtersIn = (filters: ListDocument['filters']): Filters =>
    mapped(filters, (filter, member) => ({
      member,
      entriesMax: givenOnce.includes(filter) ? 1 : entriesMax,
      isEnum: enums.includes(filter),
    }))
  const bounds = Object.entries(stated.bounds).flatMap(([prefix, under]) =>
    under.map((side) => [`${prefix}.${side}`, named(sides, side)] as const),
  )
  const filters = { ...stated.filters, ...stated.additions }
  return {
    ...rest,
    name,
    ids: Object.keys(filters).find((filter) => filters[filter] === 'id') ?? 'ids',
    shape: shapeOf(stated.shape),
    filters: filtersIn(stated.filters),
    additions: filtersIn(stated.additions),
    bounds: Object.fromEntries(bounds),
  }
}

const mapped = <T, U>(of: Readonly<Record<string, T>>, to: (name: string, value: T) => U) =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, to(name, value)]))

const listsByName = mapped<ListDocument, List>(document.lists, listOf)

export const lists: readonly List[] = Object.values(listsByName)

export const fiatAccounts = named(listsByName, 'fiat accounts')
export const statements = named(listsByName, 'statements')
export const fiatDepositInstructions = named(listsByName, 'fiat deposit instructions')
export const depositAddresses = named(listsByName, 'deposit addresses')
export const issuerQuotes = named(listsByName, 'issuer quote executions')

export const filtersOf = (list: List): Filters => ({ ...list.filters, ...list.additions })

export const singleReads: readonly SingleRead[] = Object.entries(document.reads).map(
  ([name, { section, shape, unknownDetail }]) => ({
    list: named(listsByName, name),
    section,
    shape: shapeOf(shape),
    unknownDetail: (id) => unknownDetail.replace('{id}', id),
  }),
)

export const feeOperation = { ...document.fee, shape: shapeOf(document.fee.shape) }

/** The kind of a list's records in events: `fiat-accounts`. */
export const kindOf = ({ name }: List): string => name.replaceAll(' ', '-')
