import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Span, TraceContext } from '@bursar/base'
import type { Deed } from './audit-entry.ts'
import type { Person } from './principal.ts'
import type { Problem } from './problem.ts'

/** An HTTP request, free of the web framework. The API, OAuth and ingest all take this type. */
export type Request = {
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** The text after the question mark, not decoded; empty where there is none. */
  readonly rawQuery: string
  readonly parameters: Readonly<Record<string, string>>
  readonly headers: IncomingHttpHeaders
  /** Name, value, name, value, …: the only place where a repeated header shows. */
  readonly rawHeaders: readonly string[]
  /** At most `bodyBytesMax` bytes of the server, or as many as its route takes. */
  readonly body: Buffer
  /** The body as it arrives, where the route takes a stream. `body` is empty then. */
  readonly content?: Readable | undefined
  /** What the caller's requests on one connection have in common. */
  readonly connection: object
  /** The caller's IP address. */
  readonly address: string
  readonly id: string
  /** Aborted when the caller has left before its answer. For work that takes long. */
  readonly left: () => AbortSignal
  /** Leaves the requests in progress while it waits for news, and returns the way back. */
  readonly rest: () => () => void
  readonly trace: Trace
}

/** What the pipeline learns about a request, for its log line and for the headers of its answer. */
export type Trace = {
  /** `RateLimit-*`, where requests are limited. */
  limitHeaders?: Readonly<Record<string, string>>
  /** Names of unknown query parameters, safe in a header. */
  ignoredParameters?: readonly string[]
  /** Names of parameters whose value looks like several, where no record has it. */
  joinedParameters?: readonly string[]
  /** The trace that the caller has named or, where traces are sent, the span of the request. */
  context?: TraceContext
  /** The span of the request, if its trace is recorded. */
  span?: Span
  /** The step that sends the answer, until its last byte is taken. */
  responding?: Span
  operation?: string
  client?: string
  /** Whose request it is, for the sandbox alone: no log names a customer. */
  customer?: string
  /** The fault that a test has created in the sandbox for this request. */
  fault?: InjectedFault
  rows?: number
  /** Who it is, unless it is a program. */
  person?: Person
  problem?: string
  /** Why a token was refused, for the log alone. */
  refusal?: string
  /** The source of a quoted fee: for the operator's log, never for the answer. */
  fee?: Readonly<Record<string, unknown>>
  /** The cause of a 500 or 503, for the log alone. */
  cause?: unknown
  /** The answer is sent, or its client gone. */
  hasEnded?: boolean
}

/** What happens to a request. A cut or truncated answer is the server's work. */
export type InjectedFault = 'status' | 'delay' | 'cut' | 'truncated' | 'expired_token'

/** Delays a request, throws a Problem, or notes in its trace how the server breaks its answer. */
export type Interfere = (operation: string, customer: string, trace: Trace) => Promise<void>

/** Counts a request of a key and notes the `RateLimit-*` headers. Throws a 429 over the limit. */
export type RateLimit = (key: string, trace: Trace) => Promise<void>

/**
 * Waits until the client's answers that it has not taken leave memory for one more, of so many
 * bytes. Throws a 503 if they do not in time.
 */
export type ReserveAnswer = (clientId: string, bytes: number, trace: Trace) => Promise<void>

export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Text is sent in one write with its headers; a page is bytes. A 304 has no body. */
  readonly body: Uint8Array | string | undefined
  /** Called when the operating system has taken every byte; until then nobody may change them. */
  readonly sent?: () => void
  /** What needs an entry in the audit log before the answer is sent. */
  readonly deed?: Deed | undefined
  /** The body lives as long as the process, so sending it takes no memory. */
  readonly isShared?: true
  /** The body in each coding that was sent before, and what keeps a further one. */
  readonly coded?: ReadonlyMap<string, Uint8Array>
  readonly keepCoded?: (coding: string, body: Uint8Array) => void
}

/** One method and path, and the function that answers it. `:name` in a path is a parameter. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** The operation's name in the log. */
  readonly operation: string
  readonly answer: (request: Request) => Answer | Promise<Answer>
  /** The largest body, if it is not the one of the server. */
  readonly bodyBytesMax?: number
  /** The body is a stream without a bound, also with `Content-Encoding: gzip`. */
  readonly takesStream?: boolean
  /** Renders a problem in another format than problem+json, or leaves it: undefined. */
  readonly renderProblem?: (problem: Problem) => Answer | undefined
  /** A health check: probes would fill every store of traces. */
  readonly isProbe?: true
  /** Throws what needs no body, for a caller that sends its body only after 100 Continue. */
  readonly admit?: (request: Request) => Promise<void>
}

export function jsonAnswer(
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Answer & { readonly body: string } {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  }
}

/** Every Authorization header; of several, Node keeps only the first in `headers`. */
export function authorizationHeaders({ rawHeaders }: Pick<Request, 'rawHeaders'>): string[] {
  const found: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (isAuthorization(rawHeaders[at] ?? '')) found.push(rawHeaders[at + 1] ?? '')
  }
  return found
}

const isAuthorization = (name: string): boolean =>
  name.length === 'authorization'.length && name.toLowerCase() === 'authorization'

/**
 * Tells whether a query has one of the parameters, in linear time and without decoding the query:
 * every character of a name may be a percent escape.
 */
export function queryNames(names: readonly string[]): (rawQuery: string) => boolean {
  const name = `(?:${names.map(escapable).join('|')})(?![^=&])`
  const [first, later] = [new RegExp(`^\\??${name}`), new RegExp(`&${name}`)]
  return (rawQuery) => first.test(rawQuery) || later.test(rawQuery)
}

const escapable = (name: string): string =>
  Array.from(name, (character) => {
    const [high = '', low = ''] = character.charCodeAt(0).toString(16)
    return `(?:${character}|%${high}[${low}${low.toUpperCase()}])`
  }).join('')
