import type { FetchAnswer } from './fetch.ts'
import type { components } from './schema.ts'
import { systemTime } from './system-time.ts'

type Problem = components['schemas']['Problem']
export type ParameterFault = components['schemas']['ParameterFault']

type Facts = {
  readonly detail: string
  readonly status?: number | undefined
  readonly type?: string | undefined
  readonly title?: string | undefined
  readonly requestId?: string | undefined
  readonly meta?: Problem['meta'] | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

/** The base of every error of this package. An aborted call throws its signal's reason instead. */
export class BursarError extends Error {
  override readonly name: string = 'BursarError'
  /** The HTTP status, or undefined if there was no complete answer. */
  readonly status: number | undefined
  /** `about:blank`, or the path of the problem's page. */
  readonly type: string
  readonly title: string
  /** What to change, in a sentence. */
  readonly detail: string
  /** Names the request to the operator. */
  readonly requestId: string | undefined
  /** Every faulty parameter. */
  readonly errors: readonly ParameterFault[]
  /** Facts that the problem type has. */
  readonly meta: Problem['meta'] | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(facts: Facts) {
    const { detail, status, title = 'Error', requestId, meta, retryAfterSeconds, cause } = facts
    super(detail, cause === undefined ? undefined : { cause })
    this.status = status
    this.type = facts.type ?? 'about:blank'
    this.title = title
    this.detail = detail
    this.requestId = requestId
    this.errors = meta?.errors ?? []
    this.meta = meta
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** 400: a parameter or the body is faulty; `errors` and `meta` say what. */
export class BadRequestError extends BursarError {
  override readonly name = 'BadRequestError'
}

/** 401, or the token endpoint refused the client; then `title` is OAuth's error code. */
export class AuthenticationError extends BursarError {
  override readonly name = 'AuthenticationError'
}

/** 403: the token lacks the scope of the operation. */
export class PermissionError extends BursarError {
  override readonly name = 'PermissionError'
}

/** 404: none of the customer's records has this id. */
export class NotFoundError extends BursarError {
  override readonly name = 'NotFoundError'
}

/**
 * 410: what is asked for is no longer kept. Events after a cursor are gone: read the lists again.
 * Or a time of `as_of` is too early; `meta.kept_since` is the first.
 */
export class GoneError extends BursarError {
  override readonly name = 'GoneError'
}

/** 429: a limit is used up; `retryAfterSeconds` says for how long. */
export class RateLimitError extends BursarError {
  override readonly name = 'RateLimitError'
}

/** 500 and above. */
export class ServerError extends BursarError {
  override readonly name = 'ServerError'
}

/** There was no complete answer: no connection, a broken one, a cut body, or the time is over. */
export class ConnectionError extends BursarError {
  override readonly name = 'ConnectionError'
  /** False if the request surely did not reach the server. */
  readonly wasSent: boolean

  constructor(what: string, cause: unknown) {
    const codes = codesOf(cause)
    const detail = codes.length === 0 ? what : `${what} (${codes.join(', ')})`
    super({ detail, title: 'Connection Error', cause })
    this.wasSent = !codes.some((code) => unsentCodes.has(code))
  }
}

/** The server ignored parameters, so the answer may hold more than the filters allow. */
export class UnknownParameterError extends BursarError {
  override readonly name = 'UnknownParameterError'
}

/**
 * What Node says when it found no host or got no connection; browsers do not tell. EHOSTUNREACH is
 * not among them, because an open connection may fail with it too.
 */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])

/** The codes of an error and its causes; `fetch` wraps the error of the socket. */
function codesOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return []
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : []
  return 'cause' in error ? [...own, ...codesOf(error.cause)] : own
}

/** The error that an answer stands for: a problem, an error of OAuth, or a foreign body. */
export function errorOf(
  response: FetchAnswer,
  body: unknown,
  isTokenEndpoint = false,
): BursarError {
  const { status } = response
  const problem = partsOf(body)
  const { meta } = problem
  // A 404 of the token endpoint must not look like a record that is missing.
  const isRefusal = isTokenEndpoint && status < 500 && status !== 429
  const ErrorClass = isRefusal ? AuthenticationError : classOf(status)
  return new ErrorClass({
    status,
    type: textOf(problem.type),
    title: textOf(problem.title) ?? textOf(problem.error) ?? `HTTP ${status}`,
    detail:
      textOf(problem.detail) ??
      textOf(problem.error_description) ??
      `the answer has status ${status} and does not say why`,
    requestId: textOf(problem.request_id) ?? response.headers.get('x-request-id') ?? undefined,
    meta: typeof meta === 'object' && meta !== null ? { ...meta } : undefined,
    retryAfterSeconds: retryAfterOf(response.headers.get('retry-after')),
  })
}

const partsOf = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === 'object' && body !== null ? { ...body } : {}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

function classOf(status: number): new (facts: Facts) => BursarError {
  if (status === 400) return BadRequestError
  if (status === 401) return AuthenticationError
  if (status === 403) return PermissionError
  if (status === 404) return NotFoundError
  if (status === 410) return GoneError
  if (status === 429) return RateLimitError
  return status >= 500 ? ServerError : BursarError
}

/** `Retry-After` is a number of seconds or a date. */
function retryAfterOf(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+$/.test(header)
    ? Number(header)
    : (Date.parse(header) - systemTime.wallMs()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
