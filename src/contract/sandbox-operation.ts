import type { TSchema } from 'typebox'
import type { Instant } from '../values/instant.ts'
import { type Answers, answersOf, type DeclaredProblem, successText } from './answers.ts'
import type { Field } from './fields.ts'
import type { Body, BodyInput } from './operation.ts'
import type { Trace } from './request.ts'

/** A call by which tests control a sandbox. It has no caller and no scope, and `serve` has none. */
export type SandboxOperation = {
  readonly kind: 'control'
  readonly id: string
  readonly summary: string
  readonly tag: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: `/sandbox/${string}`
  /** The parameters in the path. */
  readonly parameters: Readonly<Record<string, Field<string>>>
  readonly query: Readonly<Record<string, Field<string> | Field<boolean>>>
  /** The query parameters that must be set. */
  readonly required: readonly string[]
  /** A JSON object, or records as NDJSON. */
  readonly body?: Body | 'ndjson'
  /** The body may be left out. */
  readonly bodyOptional?: boolean
  readonly status: 200 | 201 | 204
  /** What it answers; absent for a 204. */
  readonly view?: { readonly name: string; readonly schema: TSchema }
  /** Every status that it answers. */
  readonly answers: Answers
}

type Plain = 'kind' | 'parameters' | 'query' | 'required'

export function sandboxOperation({
  problems = {},
  ...declaration
}: Omit<SandboxOperation, Plain | 'answers'> &
  Partial<Pick<SandboxOperation, Plain>> & {
    /** By status: the problems besides those of every operation. */
    readonly problems?: Readonly<Record<number, DeclaredProblem>>
  }): SandboxOperation {
  const { method, status, view, body } = declaration
  const description = successText(view?.schema)
  return {
    parameters: {},
    query: {},
    required: [],
    ...declaration,
    kind: 'control',
    answers: answersOf({
      method,
      bodyMax: body === 'ndjson' ? 'The body has more than 16 MiB.' : undefined,
      successes: { [status]: { description } },
      problems,
    }),
  }
}

/** Does what a call declares and returns the JSON value to answer, or throws a Problem. */
export type ControlWork = (input: ControlInput) => Promise<object | undefined>

export type ControlInput = {
  /** The parameters of the path and of the query that were set. */
  readonly parameters: ReadonlyMap<string, string | number | boolean | Instant>
  readonly body: BodyInput
  /** The body as it was sent, for records. */
  readonly bytes: Buffer
  /** Aborted when the caller has left before its answer. */
  readonly left: () => AbortSignal
  readonly trace: Trace
}

/** The works of the calls, by the operation's id. */
export type ControlWorks = Readonly<Record<string, ControlWork>>
