import type { TSchema } from 'typebox'
import type { Instant } from '../values/instant.ts'
import { type Answers, answersOf, type DeclaredProblem, successText } from './answers.ts'
import { type ArrayField, described, type Field, instant } from './fields.ts'
import { pagingParameters } from './paging.ts'
import type { Principal } from './principal.ts'
import type { Trace } from './request.ts'
import type { ListView, Resource, View } from './resource.ts'
import type { Scope } from './scopes.ts'

/** What a query parameter does to the records that are read. Only the store applies it. */
export type Filter<Column extends string = string> =
  | { readonly kind: 'anyOf'; readonly column: Column }
  | { readonly kind: 'bound'; readonly operator: BoundOperator }
  | { readonly kind: 'namesTenant' }
  | IncludesDeleted

type IncludesDeleted = { readonly kind: 'includesDeleted' }

export type BoundOperator = 'lt' | 'lte' | 'eq' | 'gte' | 'gt'

type Parameter = Field<string> | Field<Instant> | Field<boolean> | ArrayField<string>

type Declared = {
  readonly id: string
  readonly summary: string
  readonly tag: string
}

type Common<Path extends string, AnyScope extends string> = Declared & {
  readonly path: Path
  readonly scope: AnyScope
  /** Every status that it answers. */
  readonly answers: Answers
  readonly query: Readonly<Record<string, Parameter | Field<number>>>
  /** The query parameters that must be set. */
  readonly required: readonly string[]
}

export type GetOperation = Common<`/v2/${string}`, Scope> & {
  readonly kind: 'get'
  readonly method: 'GET'
  readonly query: Readonly<Record<string, Field<boolean>>>
  readonly filter: Readonly<Record<string, IncludesDeleted>>
  readonly view: View
  readonly malformedId: (given: string) => string
  readonly unknownId: (id: string) => string
}

export type ListOperation = Common<`/v2/${string}`, Scope> & {
  readonly kind: 'list'
  readonly method: 'GET'
  readonly filter: Readonly<Record<string, Filter>>
  readonly envelope: string
  readonly view: ListView
}

/** A JSON object in a request. Unknown members are ignored unless it is closed; null is absent. */
export type Body = {
  readonly members: Readonly<Record<string, Field<string>>>
  readonly required: readonly string[]
  /** Refuses unknown members. Only calls without clients of other versions may. */
  readonly closed?: true
  readonly oneOf?: {
    readonly members: readonly [string, string]
    readonly both: string
    readonly neither: string
  }
}

/** The members of a body that were set, after validation. */
export type BodyInput = ReadonlyMap<string, string>

/** An operation that changes something. `service.ts` binds its work to it. */
type Write<Path extends string, AnyScope extends string> = Common<Path, AnyScope> & {
  readonly kind: 'write'
  readonly method: 'POST'
  readonly body: Body
  readonly view: { readonly name: string; readonly schema: TSchema }
}

export type WriteOperation = Write<`/v2/${string}`, Scope>

export type Operation = GetOperation | ListOperation | WriteOperation

/** Does what a write declares and returns the JSON value to answer, or throws a Problem. */
export type Work = (input: WriteInput) => Promise<object>

export type WriteInput = {
  readonly caller: Principal
  /** The UUID in the path; empty where the path has none. */
  readonly id: string
  readonly body: BodyInput
  readonly trace: Trace
}

/** The works of writes, by the operation's id. */
export type Works = Readonly<Record<string, Work>>

type Plain = 'kind' | 'method' | 'answers' | 'query' | 'required'

/**
 * Declares a list. It does not compile when a parameter has no filter, a filter no parameter, or a
 * filter names a column that the view's resource lacks. `limit`, `order` and `page_cursor` come
 * with every list.
 */
export function listOperation<
  const Query extends Readonly<Record<string, Parameter>>,
  const Columns extends string,
  const Filters extends { readonly [P in keyof Query]: Filter<Columns | 'id' | 'refId'> },
>(
  declaration: Omit<ListOperation, Plain | 'filter' | 'view'> & {
    readonly query: Query
    readonly filter: Filters & { readonly [P in Exclude<keyof Filters, keyof Query>]: never }
    readonly required?: readonly (keyof Query & string)[]
    /** The one value of the parameter `order_by`, for lists that take it. */
    readonly orderBy?: 'CREATED_AT'
    readonly view: ListView<Resource<Columns>>
  },
): ListOperation {
  const { orderBy, query, required = [], ...rest } = declaration
  const parameters = { ...query, ...pagingParameters(orderBy) }
  const headers = ['ETag', 'As-Of'] as const
  const answers = answersOf({
    method: 'GET',
    scope: rest.scope,
    successes: {
      200: { description: 'A page of the list.', headers },
      304: { description: 'The page is the one that If-None-Match names.', headers },
    },
    problems: {},
  })
  return { ...rest, kind: 'list', method: 'GET', answers, query: parameters, required }
}

/** Declares the reading of one record. Each flag of its query must have a filter. */
export function getOperation<const Query extends Readonly<Record<string, Field<boolean>>>>(
  declaration: Omit<GetOperation, Plain | 'filter'> & {
    readonly query: Query
    readonly filter: { readonly [P in keyof Query]: IncludesDeleted }
  },
): GetOperation {
  const answers = answersOf({
    method: 'GET',
    scope: declaration.scope,
    successes: { 200: { description: 'The record.' } },
    problems: { 404: { description: 'Nothing with this id is the caller’s.' } },
  })
  return { ...declaration, kind: 'get', method: 'GET', answers, required: [] }
}

type DeclaredWork = Omit<WriteOperation, Plain> & {
  /** By status: the problems besides those of every operation. */
  readonly problems: Readonly<Record<number, DeclaredProblem>>
}

export const writeOperation = ({ problems, ...declaration }: DeclaredWork): WriteOperation => ({
  ...declaration,
  ...plainWrite,
  answers: answersOf({
    method: 'POST',
    scope: declaration.scope,
    successes: { 200: { description: successText(declaration.view.schema) } },
    problems,
  }),
})

const plainWrite = { kind: 'write', method: 'POST', query: {}, required: [] } as const

export const anyOf = <const Column extends string>(column: Column) =>
  ({ kind: 'anyOf', column }) as const

export const includesDeleted = { kind: 'includesDeleted' } as const
export const namesTenant = { kind: 'namesTenant' } as const
export const notBefore = { kind: 'bound', operator: 'gte' } as const
export const notAfter = { kind: 'bound', operator: 'lte' } as const

/** The five creation-time bounds of the contract, sections 4.2 and 4.5, as parameters … */
export const createdAtBounds = {
  'created_at.lt': described(instant, 'Created before this time.'),
  'created_at.lte': described(instant, 'Created at or before this time.'),
  'created_at.eq': described(instant, 'Created at this time.'),
  'created_at.gte': described(instant, 'Created at or after this time.'),
  'created_at.gt': described(instant, 'Created after this time.'),
} as const

/** … and as filters. */
export const createdAtFilters = {
  'created_at.lt': { kind: 'bound', operator: 'lt' },
  'created_at.lte': { kind: 'bound', operator: 'lte' },
  'created_at.eq': { kind: 'bound', operator: 'eq' },
  'created_at.gte': { kind: 'bound', operator: 'gte' },
  'created_at.gt': { kind: 'bound', operator: 'gt' },
} as const
