import type { IncomingHttpHeaders } from 'node:http'
import type { BoundOperator, Instant } from '@bursar/base'
import type { TSchema } from 'typebox'
import { type Answers, answersOf, type DeclaredAnswer, successesOf } from './answers.ts'
import type { Deed } from './audit-entry.ts'
import { type ArrayField, described, type Field, instant, text, uuid } from './fields.ts'
import { contractLimits } from './limits.ts'
import { asComponent } from './members.ts'
import { pagingParameters } from './paging.ts'
import { asOf, pastUnknownText } from './past-instant.ts'
import type { Caller, OperatorPrincipal } from './principal.ts'
import { echo } from './problem.ts'
import type { Request, Trace } from './request.ts'
import type { ListView, Resource, View } from './resource.ts'
import type { OperatorScope, Scope } from './scopes.ts'

/** What a query parameter does to the records that are read. Only the store applies it. */
export type Filter<Column extends string = string> =
  | { readonly kind: 'anyOf'; readonly column: Column }
  | { readonly kind: 'bound'; readonly operator: BoundOperator }
  | { readonly kind: 'namesTenant' }
  | IncludesDeleted

type IncludesDeleted = { readonly kind: 'includesDeleted' }

type Parameter =
  | Field<string>
  | Field<number>
  | Field<Instant>
  | Field<boolean>
  | ArrayField<string>

/** A query parameter, and what it does to the records that are read. */
type Filtered<F extends Filter = Filter> = { readonly field: Parameter; readonly filter: F }

/** One method and path of the API, and all that a caller can send to it and get from it. */
export type Operation = {
  readonly id: string
  /** The name of the operation in a list of operations. */
  readonly title: string
  readonly summary: string
  readonly tag: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** The scope of the token; null where each token of the operator will do, absent without one. */
  readonly scope?: Scope | OperatorScope | null
  /** The parameters in the path. */
  readonly parameters: Readonly<Record<string, Field<string>>>
  readonly query: Readonly<Record<string, Parameter>>
  /** The query parameters that must be set. */
  readonly required: readonly string[]
  /** Refuses unknown parameters. Only calls without clients of other versions may. */
  readonly closed?: true
  /** The headers that it reads, each with its meaning. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Body | RawBody
  /** Every status that it answers. */
  readonly answers: Answers
  /** The usual success. */
  readonly status: number
  /** The success of a request that has created something. */
  readonly statusIfNew: number
}

/** A JSON object in a request. Unknown members are ignored unless it is closed; null is absent. */
export type Body = {
  readonly members: Readonly<Record<string, Field<string> | Field<Instant>>>
  readonly required: readonly string[]
  /** Refuses unknown members. Only calls without clients of other versions may. */
  readonly closed?: true
  /** The body may be left out. */
  readonly optional?: true
  readonly oneOf?: {
    readonly members: readonly [string, string]
    readonly both: string
    readonly neither: string
  }
}

/** A body that the work reads: a record, or records as NDJSON where no view is given. */
export type RawBody = {
  readonly view?: { readonly name: string; readonly schema: TSchema }
  readonly bytesMax: number
  /** What a 413 means. */
  readonly tooLarge: string
  /** The work gets the body as it arrives. */
  readonly isStream?: true
}

/** The members of a body that were set, after validation. */
export type BodyInput = ReadonlyMap<string, string>

export type ParameterValue = string | number | boolean | Instant | readonly string[]

/** The right to a request. It ends when the client is disabled, or loses its token or its scope. */
export type HeldRight = {
  /** Throws the 401 of a revoked token once the right has ended. For after a wait. */
  require(): void
  /** Aborted with that 401. For work that takes longer than a second. */
  signal(): AbortSignal
}

export type WorkInput<C extends Caller> = {
  readonly caller: C
  /** The parameters of the path and of the query that were set. */
  readonly parameters: ReadonlyMap<string, ParameterValue>
  readonly body: BodyInput
  /** The place that the page comes after, where the operation has pages and a cursor was sent. */
  readonly after: Uint8Array | undefined
  readonly headers: IncomingHttpHeaders
  readonly trace: Trace
  readonly right: HeldRight
  /** For a body that the work reads, and for the signal that the caller has left. */
  readonly request: Request
}

/** A body that is text is JSON. */
export type WorkAnswer = {
  /** Whether the request has created something: it is answered with the 201 of the operation. */
  readonly isNew?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
  readonly deed?: Deed | undefined
  /** Of an operation with pages: the place of the last entry, where entries remain. */
  readonly next?: Uint8Array | undefined
  /** Of an operation that can be resumed: where what comes later will follow, in ASC order. */
  readonly resume?: Uint8Array | undefined
}

/** Does what an operation declares, or throws a Problem. The composition root binds it. */
export type Work<C extends Caller> = (input: WorkInput<C>) => Promise<WorkAnswer>

/** What the operator, or a test that controls a sandbox, may call. */
export type OperatorInput = WorkInput<OperatorPrincipal>
export type OperatorWork = Work<OperatorPrincipal>

/** Works by the operation's id. */
export type OperatorWorks = Readonly<Record<string, OperatorWork>>

export type Declaration = Omit<Operation, Derived | 'answers' | 'status' | 'statusIfNew'> &
  Partial<Pick<Operation, Derived>> & {
    /** What its successes answer; absent where they have no body. */
    readonly view?: { readonly name: string; readonly schema: TSchema }
    /** By status: what differs from what every operation answers. */
    readonly answers?: Readonly<Record<number, DeclaredAnswer>>
  }

type Derived = 'title' | 'parameters' | 'query' | 'required' | 'headers'

/** Declares an operation. The parameter `:id` of a path is a UUID unless it says otherwise. */
export function operation({ view, answers = {}, ...declaration }: Declaration): Operation {
  const { id, path } = declaration
  const all = answersOf(declaration, view, answers)
  const [status = 200, statusIfNew = status] = successesOf(all)
  return {
    title: titleOf(id),
    parameters: path.includes('/:id') ? { id: recordId } : {},
    query: {},
    required: [],
    headers: {},
    ...declaration,
    answers: all,
    status,
    statusIfNew,
  }
}

/** `listFiatAccounts` → `List Fiat Accounts`, the operation's name in the contract. */
const titleOf = (id: string): string => capitalised(id.replace(/[A-Z]/g, (letter) => ` ${letter}`))

export const capitalised = (name: string): string =>
  name.replace(/^./, (letter) => letter.toUpperCase())

const recordId = described(uuid, 'The record’s identifier.')

type Read = Omit<Operation, 'scope' | 'query'> & {
  readonly path: `/v2/${string}`
  readonly scope: Scope
}

/** The reading of one record of the caller. */
export type GetOperation = Read & {
  readonly query: Readonly<Record<string, Parameter>>
  readonly filter: Readonly<Record<string, Filter>>
  readonly view: View
  readonly unknownId: (id: string) => string
}

/** A list of the caller's records. */
export type ListOperation = Read & {
  readonly query: Readonly<Record<string, Parameter>>
  readonly filter: Readonly<Record<string, Filter>>
  readonly envelope: string
  readonly view: ListView
}

/** A customer's list as it was at an instant. It takes the parameters of that list too. */
export type PastList = Operation & { readonly list: ListOperation }

type DeclaredRead = Pick<Declaration, 'id' | 'summary' | 'tag'> & Pick<Read, 'path' | 'scope'>

/** Declares the reading of one record. */
export function getOperation({
  malformedId,
  filters = {},
  ...declaration
}: DeclaredRead &
  Pick<GetOperation, 'view' | 'unknownId'> & {
    readonly filters?: Readonly<Record<string, Filtered<IncludesDeleted>>>
    readonly malformedId: (given: string) => string
  }): GetOperation {
  const { id, summary, tag, path, scope, view, unknownId } = declaration
  const list = path.replace('/:id', '')
  const reason = `must be set: the path ends in a slash, and the list is ${list}`
  const idInPath: Field<string> = {
    ...recordId,
    read: (raw) => {
      // An empty id is most often the slash that some clients put behind the path of a list.
      if (raw === '') return { code: 'missing', reason, sentence: `id ${reason}` }
      const reading = uuid.read(raw)
      return 'value' in reading ? reading : { ...reading, sentence: malformedId(echo(raw)) }
    },
  }
  const declared = operation({
    id,
    summary,
    tag,
    method: 'GET',
    path,
    scope,
    parameters: { id: idInPath },
    view,
    answers: {
      200: { description: 'The record.' },
      404: { description: 'Nothing with this id is the caller’s.' },
      410: { description: pastUnknownText },
    },
  })
  const { query, filter } = partsOf(filters)
  return { ...declared, path, scope, query: { ...query, as_of: asOf }, filter, view, unknownId }
}

/**
 * Declares a list. It does not compile when a filter names a column that the view's resource lacks.
 * `limit`, `order` and `page_cursor` come with every list.
 */
export function listOperation<const Columns extends string, const Names extends string>(
  declaration: DeclaredRead & {
    readonly filters: Readonly<Record<Names, Filtered<Filter<NoInfer<Columns> | 'id' | 'refId'>>>>
    readonly required?: readonly NoInfer<Names>[]
    /** The one value of the parameter `order_by`, for lists that take it. */
    readonly orderBy?: 'CREATED_AT'
    readonly envelope: string
    readonly view: ListView<Resource<Columns>>
  },
): ListOperation {
  const { orderBy, filters, envelope, view, ...rest } = declaration
  const { path, scope } = rest
  const { query, filter } = partsOf(filters)
  const headers = ['ETag', 'As-Of', 'X-Joined-Parameters'] as const
  const declared = operation({
    ...rest,
    method: 'GET',
    query: { ...query, ...pagingParameters(orderBy), as_of: asOf },
    view: pageView({ id: rest.id, envelope, view }),
    answers: {
      200: { description: 'A page of the list.', headers },
      304: { description: 'The page is the one that If-None-Match names.', headers },
      410: { description: pastUnknownText },
    },
  })
  return { ...declared, path, scope, filter, envelope, view }
}

/** The fields and the filters of the parameters, each by their names. */
function partsOf(filters: Readonly<Record<string, Filtered>>) {
  const entries = Object.entries(filters)
  return {
    query: Object.fromEntries(entries.map(([name, { field }]) => [name, field])),
    filter: Object.fromEntries(entries.map(([name, { filter }]) => [name, filter])),
  }
}

/** The envelope of a list: `listFiatAccounts` answers a `FiatAccountsPage`. */
function pageView({ id, envelope, view }: Pick<ListOperation, 'id' | 'envelope' | 'view'>) {
  const schema = {
    description: 'A page of records, in the order of the request.',
    type: 'object',
    required: [envelope],
    properties: {
      [envelope]: {
        description: 'The records; empty where none matches.',
        type: 'array',
        maxItems: contractLimits.pageSizeMax,
        items: asComponent(view),
      },
      next_page_cursor: {
        description: 'The `page_cursor` of the next page. Absent on the last page.',
        type: 'string',
      },
    },
  }
  return { name: `${capitalised(id.replace(/^list/, ''))}Page`, schema }
}

/** Declares a customer's list at an instant. */
export function pastList({
  list,
  ...declaration
}: Omit<Declaration, 'method' | 'parameters' | 'view'> & {
  readonly list: ListOperation
}): PastList {
  const { answers, query } = declaration
  const declared = operation({
    ...declaration,
    method: 'GET',
    parameters: { customer_id: described(text, 'Whose list it is.') },
    query: { ...list.query, ...query },
    view: pageView(list),
    answers: {
      200: { description: 'A page of the list at an instant.', headers: ['As-Of'] },
      ...answers,
    },
  })
  return { ...declared, list }
}

export const anyOf = <const Column extends string>(
  column: Column,
  field: Field<string> | ArrayField<string>,
) => ({ field, filter: { kind: 'anyOf', column } }) as const

export const includesDeleted = (field: Field<boolean>) =>
  ({ field, filter: { kind: 'includesDeleted' } }) as const

export const namesTenant = (field: Field<string>) =>
  ({ field, filter: { kind: 'namesTenant' } }) as const

export const bound = (operator: BoundOperator, description: string) =>
  ({ field: described(instant, description), filter: { kind: 'bound', operator } }) as const

/** The five creation-time bounds of the contract, sections 4.2 and 4.5. */
export const createdAtBounds = {
  'created_at.lt': bound('lt', 'Created before this time.'),
  'created_at.lte': bound('lte', 'Created at or before this time.'),
  'created_at.eq': bound('eq', 'Created at this time.'),
  'created_at.gte': bound('gte', 'Created at or after this time.'),
  'created_at.gt': bound('gt', 'Created after this time.'),
} as const
