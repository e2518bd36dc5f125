import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { TSchema } from 'typebox'
import type { Clock } from '../platform/clock.ts'
import { type Instant, printInstant } from '../values/instant.ts'
import {
  type Answers,
  answersOf,
  type DeclaredAnswer,
  type DeclaredProblem,
  successText,
} from './answers.ts'
import { described, type Field, instant, text, uuid } from './fields.ts'
import type { Body, BodyInput, ListOperation } from './operation.ts'
import type { OperatorPrincipal } from './principal.ts'
import { type Problem, problem } from './problem.ts'
import type { Trace } from './request.ts'
import type { Resource } from './resource.ts'
import type { OperatorScope } from './scopes.ts'

type Parameter = Field<string> | Field<number> | Field<boolean> | Field<Instant>

type Common = {
  readonly id: string
  /** The name of the operation in a list of operations. */
  readonly title: string
  readonly summary: string
  readonly tag: string
  readonly path: `/ingest/v1/${string}`
  /** Null where every client of the operator and every person may call it. */
  readonly scope: OperatorScope | null
  /** The parameters in the path. */
  readonly parameters: Readonly<Record<string, Field<string>>>
  readonly query: Readonly<Record<string, Parameter>>
  /** The query parameters that must be set. */
  readonly required: readonly string[]
  /** Every status that it answers. */
  readonly answers: Answers
}

/** A call of the operator's own systems. `service.ts` binds its work to it. */
export type IngestCall = Common & {
  readonly kind: 'ingest'
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** A JSON object with these members, one record, or a stream of records as NDJSON. */
  readonly body?:
    | Body
    | { readonly record: Resource; readonly view: CallView }
    | { readonly records: Resource }
  readonly status: 200 | 204
  /** What it answers; absent for a 204. */
  readonly view?: CallView
  /** Its answer has the entity tag of a version, and the request may have conditions on it. */
  readonly isTagged?: true
  /** It shows what lists mask, so a person must give a reason in the header `Access-Reason`. */
  readonly showsInFull?: true
}

type CallView = { readonly name: string; readonly schema: TSchema }

/** A customer's list as it was at an instant. The parameters of that list apply. */
export type PastList = Common & {
  readonly kind: 'past-list'
  readonly method: 'GET'
  readonly list: ListOperation
}

/** An operation of the operator's own systems, out of reach of every customer's client. */
export type IngestOperation = IngestCall | PastList

export type IngestInput = {
  readonly caller: OperatorPrincipal
  /** The parameters of the path and of the query that were set. */
  readonly parameters: ReadonlyMap<string, string | number | boolean | Instant>
  /** The place that the page comes after, where the call has pages and a cursor was sent. */
  readonly after: Uint8Array | undefined
  /** The members of a JSON body. */
  readonly body: BodyInput
  /** The body as it was sent. A stream of records is in `content` instead. */
  readonly bytes: Buffer
  readonly content: Readable | undefined
  readonly headers: IncomingHttpHeaders
  /** Method, path and query as they were sent. */
  readonly target: string
  /** Aborted when the caller has left before its answer. */
  readonly left: () => AbortSignal
  readonly trace: Trace
}

/** A body that is text is JSON. */
export type IngestAnswer = {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | string
  /** Of a call with pages: the place of the last entry, where entries remain. */
  readonly next?: Uint8Array | undefined
}

/** Does what a call declares, or throws a Problem. */
export type IngestWork = (input: IngestInput) => Promise<IngestAnswer>

/** The works of the calls, by the operation's id. */
export type IngestWorks = Readonly<Record<string, IngestWork>>

type Plain = 'kind' | 'parameters' | 'query' | 'required' | 'status'

/** What a declaration says about its answers. */
type Declared = {
  /** By status: the problems besides those of every operation. */
  readonly problems?: Readonly<Record<number, DeclaredProblem>>
  /** The success of another status than `status`. */
  readonly otherSuccess?: { readonly 201: DeclaredAnswer }
}

export function ingestCall({
  problems = {},
  otherSuccess,
  ...declaration
}: Omit<IngestCall, Plain | 'answers'> & Partial<Pick<IngestCall, Plain>> & Declared): IngestCall {
  const { method, scope, path, body, view, isTagged, status = 200 } = declaration
  const headers = isTagged === true ? (['ETag'] as const) : []
  const description = successText(view?.schema)
  return {
    parameters: path.includes('/:id') ? { id: recordId } : {},
    query: {},
    required: [],
    ...declaration,
    status,
    kind: 'ingest',
    answers: answersOf({
      method,
      scope,
      bodyMax: bodyMaxOf(body),
      successes: {
        [status]: { description, headers },
        ...otherSuccess,
        ...(isTagged === true &&
          method === 'GET' && {
            304: { description: 'The version is the one that If-None-Match names.', headers },
          }),
      },
      problems,
    }),
  }
}

function bodyMaxOf(body: IngestCall['body']): string | undefined {
  if (body === undefined || 'members' in body) return undefined
  return 'record' in body
    ? 'The record has more than 1 MiB.'
    : 'The stream has more bytes than a file of records may have.'
}

const recordId = described(uuid, 'The record’s identifier.')

/** Declares a customer's list at an instant. It takes the parameters of the list too. */
export const pastList = ({
  problems = {},
  ...declaration
}: Omit<PastList, Plain | 'method' | 'answers'> &
  Pick<PastList, 'query'> &
  Declared): PastList => ({
  ...declaration,
  answers: answersOf({
    method: 'GET',
    scope: declaration.scope,
    successes: { 200: { description: 'A page of the list at an instant.', headers: ['As-Of'] } },
    problems,
  }),
  kind: 'past-list',
  method: 'GET',
  parameters: { customer_id: described(text, 'Whose list it is.') },
  required: [],
})

export const asOf = described(instant, 'What was stored at this time; now where it is absent.')

/** The microseconds of an `as_of` that has come; undefined where none is given. */
export function pastInstant(given: unknown, clock: Clock): bigint | undefined {
  if (given === undefined) return undefined
  const { micros } = given as Instant
  if (micros <= clock()) return micros
  throw problem('malformed', 'as_of must not be in the future')
}

/** The refusal of a time that is from before a customer's records of a kind are kept. */
export function pastUnknown(kind: string, keptSince: bigint): Problem {
  const since = printInstant(keptSince)
  const detail = `${kind} of this customer are kept since ${since}; earlier states are unknown`
  return problem('gone', detail, { meta: { kept_since: since } })
}
