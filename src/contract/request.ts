import type { IncomingHttpHeaders } from 'node:http'
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
  /** At most `limits.bodyBytesMax` bytes. */
  readonly body: Buffer
  /** The caller's IP address. */
  readonly address: string
  readonly id: string
  readonly trace: Trace
}

/** What the pipeline learns about a request, for its log line and for the headers of its answer. */
export type Trace = {
  /** `RateLimit-*`, where requests are limited. */
  limitHeaders?: Readonly<Record<string, string>>
  /** Names of unknown query parameters, safe in a header. */
  ignoredParameters?: readonly string[]
  operation?: string
  client?: string
  rows?: number
  problem?: string
  /** The source of a quoted fee: for the operator's log, never for the answer. */
  fee?: Readonly<Record<string, unknown>>
  /** The cause of a 500 or 503, for the log alone. */
  cause?: unknown
}

export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Text is sent in one write with its headers; a page is bytes. A 304 has no body. */
  readonly body: Uint8Array | string | undefined
  /** Called when the operating system has taken every byte; until then nobody may change them. */
  readonly sent?: () => void
}

/** One method and path, and the function that answers it. `:name` in a path is a parameter. */
export type Route = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The operation's name in the log. */
  readonly operation: string
  readonly answer: (request: Request) => Answer | Promise<Answer>
  /** Renders a problem in another format than problem+json. */
  readonly renderProblem?: (problem: Problem) => Answer
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
  return rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'authorization',
  )
}
