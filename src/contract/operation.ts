import type { Instant } from '../values/instant.ts'
import { type ArrayField, type Field, instant } from './fields.ts'
import { type ListOrder, pagingParameters } from './paging.ts'
import type { ListView, Resource, View } from './resource.ts'
import type { OperatorScope, Scope } from './scopes.ts'

/** What a list parameter does to the page. Each kind is carried out by the store, never by an operation. */
export type Filter<Column extends string = string> =
  | { readonly kind: 'anyOf'; readonly column: Column }
  | { readonly kind: 'bound'; readonly operator: BoundOperator }
  | { readonly kind: 'revealsDeleted' }
  | { readonly kind: 'namesTenant' }

export type BoundOperator = 'lt' | 'lte' | 'eq' | 'gte' | 'gt'

type Parameter = Field<string> | Field<Instant> | Field<boolean> | ArrayField<string>

type Common = {
  readonly id: string
  readonly summary: string
  readonly path: `/v2/${string}`
  readonly scope: Scope
  readonly tag: string
}

export type GetOperation = Common & {
  readonly kind: 'get'
  readonly query: Readonly<Record<string, Field<boolean>>>
  readonly view: View
  readonly malformedId: (given: string) => string
  readonly unknownId: (id: string) => string
}

export type ListOperation = Common & {
  readonly kind: 'list'
  /** Its own parameters, and those that come with every list. */
  readonly query: Readonly<Record<string, Parameter | Field<number>>>
  readonly filter: Readonly<Record<string, Filter>>
  readonly required: readonly string[]
  readonly order: ListOrder
  readonly envelope: string
  readonly view: ListView
}

/**
 * A JSON object in a request: its members, which of them must be there, and where exactly one of two is asked for. A
 * member that it does not name is ignored, and null means absent.
 */
export type Body = {
  readonly members: Readonly<Record<string, Field<string>>>
  readonly required: readonly string[]
  readonly oneOf?: {
    readonly members: readonly [string, string]
    readonly both: string
    readonly neither: string
  }
}

/** What is answered, where it is no stored record. */
type Shown = Pick<View, 'name' | 'schema'>

export type QuoteOperation = Common & {
  readonly kind: 'quote'
  readonly body: Body
  readonly view: Shown
}

export type Operation = GetOperation | ListOperation | QuoteOperation

/** What the operator's own systems may do, under a prefix and scopes that no customer's client reaches. */
export type IngestOperation = Omit<Common, 'path' | 'scope'> & {
  readonly kind: 'consume'
  readonly path: `/ingest/v1/${string}`
  readonly scope: OperatorScope
  readonly body: Body
  readonly view: Shown
}

/**
 * Declares a list. It does not compile when a parameter has no filter, a filter no parameter, or a filter
 * names a column that the view's resource lacks. `limit`, `order` and `page_cursor` come with every list.
 */
export function listOperation<
  const Query extends Readonly<Record<string, Parameter>>,
  const Columns extends string,
  const Filters extends { readonly [P in keyof Query]: Filter<Columns | 'id' | 'refId'> },
>(
  declaration: Common & {
    readonly query: Query
    readonly filter: Filters & { readonly [P in Exclude<keyof Filters, keyof Query>]: never }
    readonly required?: readonly (keyof Query & string)[]
    readonly order: ListOrder
    readonly envelope: string
    readonly view: ListView<Resource<Columns>>
  },
): ListOperation {
  return {
    ...declaration,
    kind: 'list',
    query: { ...declaration.query, ...pagingParameters(declaration.order) },
    required: declaration.required ?? [],
  }
}

export function getOperation(declaration: Omit<GetOperation, 'kind'>): GetOperation {
  return { ...declaration, kind: 'get' }
}

export function quoteOperation(declaration: Omit<QuoteOperation, 'kind'>): QuoteOperation {
  return { ...declaration, kind: 'quote' }
}

export function consumeOperation(declaration: Omit<IngestOperation, 'kind'>): IngestOperation {
  return { ...declaration, kind: 'consume' }
}

export const anyOf = <const Column extends string>(column: Column) =>
  ({ kind: 'anyOf', column }) as const

export const revealsDeleted = { kind: 'revealsDeleted' } as const
export const namesTenant = { kind: 'namesTenant' } as const
export const notBefore = { kind: 'bound', operator: 'gte' } as const
export const notAfter = { kind: 'bound', operator: 'lte' } as const

/** The five creation-time bounds of the contract, sections 4.2 and 4.5, as parameters … */
export const createdAtBounds = {
  'created_at.lt': instant,
  'created_at.lte': instant,
  'created_at.eq': instant,
  'created_at.gte': instant,
  'created_at.gt': instant,
} as const

/** … and as what they do. */
export const createdAtFilters = {
  'created_at.lt': { kind: 'bound', operator: 'lt' },
  'created_at.lte': { kind: 'bound', operator: 'lte' },
  'created_at.eq': { kind: 'bound', operator: 'eq' },
  'created_at.gte': { kind: 'bound', operator: 'gte' },
  'created_at.gt': { kind: 'bound', operator: 'gt' },
} as const
