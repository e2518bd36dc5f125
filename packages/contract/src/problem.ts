import { STATUS_CODES } from '@bursar/base'
import type { FaultCode } from './fault-codes.ts'

export type ProblemGuide = {
  readonly status: number
  readonly meaning: string
  readonly remedy: string
}

/**
 * The problem types, each with a page under `/problems/<slug>`. Every other problem is
 * `about:blank`, which means no more than its status (RFC 9457 section 4.2.1).
 */
export const problemTypes = {
  'unsupported-asset-network': {
    status: 400,
    meaning: 'The asset cannot be withdrawn on this network.',
    remedy: 'Take an asset of `meta.offered`, which lists what the network does offer.',
  },
  'unsupported-address': {
    status: 400,
    meaning: 'The destination fails its network’s checksum, or nothing may be sent to it.',
    remedy: 'Read `detail`, and copy the address again; `meta.fault` is the same for a program.',
  },
  'exceed-precision': {
    status: 400,
    meaning: 'The figure has more decimals than the asset has on this network.',
    remedy: 'Send at most `meta.decimals` decimals; zeros after them are harmless.',
  },
  'below-min-withdraw-limit': {
    status: 400,
    meaning: 'The amount that would arrive is under the least that may be withdrawn.',
    remedy: 'Withdraw at least `meta.minimum`; a total must be that and `meta.fee` together.',
  },
  'too-many-open-quotes': {
    status: 429,
    meaning: 'The client holds as many guaranteed fees as it may.',
    remedy: 'Use them, or wait for the seconds in `Retry-After` until one has expired.',
  },
  'fee-source-unavailable': {
    status: 503,
    meaning: 'No fee can be guaranteed now: no cost or price is fresh enough to stand by.',
    remedy: 'Send the request again after the seconds in `Retry-After`.',
  },
  'fee-mismatched': {
    status: 409,
    meaning: 'The withdrawal is not what the fee was quoted for.',
    remedy:
      'Compare with `meta.quoted`; `meta.mismatched` names what differs. Quote a fee for this withdrawal.',
  },
  'fee-consumed': {
    status: 409,
    meaning: 'Another withdrawal has taken the fee.',
    remedy: '`meta.withdrawal` names it. Quote a fee for this withdrawal.',
  },
  'fee-expired': {
    status: 409,
    meaning: 'The fee was guaranteed until a time that has passed.',
    remedy: 'Quote a new one; `meta.expires_at` is when this one ended.',
  },
  'fee-not-reconciled': {
    status: 409,
    meaning:
      'The store was restored from a backup, and a withdrawal may have taken the fee after that backup.',
    remedy:
      'Do not pay yet. The operator compares the fees with the system that pays, then runs `bursar reconcile --reconciled`. Send the request again after that.',
  },
} as const satisfies Readonly<Record<string, ProblemGuide>>

/** The problems without a type of their own, by what is the matter. */
const plainProblems = {
  malformed: {
    status: 400,
    meaning: 'A parameter, the path or the body is not of its form.',
    remedy: 'Read `detail`; `meta.errors` names every parameter at fault with its reason.',
  },
  unauthenticated: {
    status: 401,
    meaning:
      'The access token is missing, malformed, expired or revoked, or its client is disabled.',
    remedy:
      'Get a new token from `POST /oauth2/token` and send it once, as `Authorization: Bearer …`.',
  },
  forbidden: {
    status: 403,
    meaning: 'The token is good but lacks the scope of this operation.',
    remedy: 'Ask for a token with the scope that `detail` names, or have it granted to the client.',
  },
  notFound: {
    status: 404,
    meaning: 'Nothing is at this path, or no record of yours has this id.',
    remedy:
      'Check the id. A deleted account is shown with `include_deleted=true`; what belongs to another customer is never told apart from nothing.',
  },
  methodNotAllowed: {
    status: 405,
    meaning: 'The path exists, but not with this method.',
    remedy: 'Use a method of the `Allow` header.',
  },
  notSentInTime: {
    status: 408,
    meaning: 'The request was not sent whole in time.',
    remedy: 'Send it again over a connection that stays open.',
  },
  conflict: {
    status: 409,
    meaning:
      'A record conflicts with what is stored: an identifier is taken, a fixed member differs, or the stored record is newer.',
    remedy: 'Read `meta.errors`, which names member, code and reason of each fault.',
  },
  gone: {
    status: 410,
    meaning:
      'What was stored at that time is unknown, since the records are kept from a later one; or what follows a cursor is not known any more.',
    remedy:
      'Ask for a later time; `meta.kept_since` is the first one. For events, read the lists, then the events without a cursor; read another list from its first page.',
  },
  preconditionFailed: {
    status: 412,
    meaning: 'The stored version is not the one that `If-Match` or `If-None-Match` requires.',
    remedy: 'Read the record, apply the change to it, and send its `ETag`.',
  },
  tooLarge: {
    status: 413,
    meaning: 'The body is larger than any operation takes.',
    remedy: 'Send a body of at most 16 KiB.',
  },
  unsupportedCoding: {
    status: 415,
    meaning: 'The body is compressed.',
    remedy: 'Send the body as it is, without `Content-Encoding`.',
  },
  expectationFailed: {
    status: 417,
    meaning: 'The `Expect` header names something else than `100-continue`.',
    remedy: 'Leave the header out.',
  },
  keyReused: {
    status: 422,
    meaning: 'The `Idempotency-Key` was sent with another request in the last 24 hours.',
    remedy: 'Send the same request again, or take a new key.',
  },
  tooManyRequests: {
    status: 429,
    meaning:
      'The client has sent more requests than its limit allows, or its address has too many in progress.',
    remedy: 'Wait for the seconds in `Retry-After`; `RateLimit-*` headers show what is left.',
  },
  headersTooLarge: {
    status: 431,
    meaning:
      'The request line, the path or the headers are too long, or there are too many headers.',
    remedy: 'Split long filters over several requests.',
  },
  defect: {
    status: 500,
    meaning: 'Something broke on our side.',
    remedy: 'Report it with the `request_id`.',
  },
  notImplemented: {
    status: 501,
    meaning: 'The method or the transfer coding is not one that this service knows.',
    remedy: 'Use GET, HEAD or POST, and send a body with its length or in chunks.',
  },
  unavailable: {
    status: 503,
    meaning:
      'The service cannot answer now: it has too many requests in progress, cannot reach or read its store, or the store is being restored.',
    remedy: 'Send the request again after the seconds in `Retry-After`.',
  },
} as const satisfies Readonly<Record<string, ProblemGuide>>

export const statusGuides: readonly ProblemGuide[] = Object.values(plainProblems)

/**
 * Whether a status says that the service has failed. 501 is about the method or the coding, which
 * any caller may choose.
 */
export const isFailure = (status: number): boolean =>
  status >= 500 && status !== plainProblems.notImplemented.status

export type ProblemSlug = keyof typeof problemTypes

export type ParameterFault = {
  readonly parameter: string
  /** Only calls that refuse unknown names have the last one. */
  readonly code: FaultCode | 'unknown_name'
  /** Does not name the parameter. */
  readonly reason: string
  /** The whole sentence in `detail`; parameter and reason where it is absent. */
  readonly sentence?: string | undefined
}

type Facts = {
  readonly meta?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** The seconds of the header `Retry-After`. */
  readonly retryAfter?: number | bigint | string
  readonly cause?: unknown
}

/**
 * A caller's mistake or a known condition (RFC 9457). `detail` is one sentence that says what to
 * change; only the log sees `cause`. Any step of the request pipeline may throw one;
 * `http/server/respond.ts` renders it.
 */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  readonly detail: string
  readonly slug: ProblemSlug | undefined
  readonly meta: Readonly<Record<string, unknown>> | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, slug: ProblemSlug | undefined, detail: string, facts: Facts) {
    super(detail, { cause: facts.cause })
    this.status = status
    this.detail = detail
    this.slug = slug
    this.meta = facts.meta
    this.headers =
      facts.retryAfter === undefined
        ? (facts.headers ?? {})
        : { ...facts.headers, 'retry-after': String(facts.retryAfter) }
  }

  get title(): string {
    return reasonOf(this.status)
  }
}

/** The HTTP reason of a status. */
export const reasonOf = (status: number): string => STATUS_CODES[status] ?? 'Error'

const isSlug = (name: string): name is ProblemSlug => Object.hasOwn(problemTypes, name)

/** A problem by its name, which decides on its status and its type. */
export function problem(
  name: ProblemSlug | keyof typeof plainProblems,
  detail: string,
  facts: Facts = {},
): Problem {
  return isSlug(name)
    ? new Problem(problemTypes[name].status, name, detail, facts)
    : new Problem(plainProblems[name].status, undefined, detail, facts)
}

/** A problem whose status another program has chosen: the web framework, or a test by a fault. */
export const problemOfStatus = (status: number, detail: string, facts: Facts = {}): Problem =>
  new Problem(status, undefined, detail, facts)

/** One 400 for all faults. `meta.errors` has codes for programs and no parameter's name twice. */
export function invalidParameters(faults: readonly ParameterFault[]): Problem {
  const detail = faults
    .map(({ parameter, reason, sentence }) => sentence ?? `${parameter} ${reason}`)
    .join('; ')
  const errors = faults.map(({ parameter, code, reason }) => ({ parameter, code, reason }))
  return problem('malformed', detail, { meta: { errors } })
}

/** The same for an unknown record, for a deleted one and for one of another customer. */
export const noneFound = (noun: string, id: string): Problem =>
  problem('notFound', `no ${noun} found for id: '${echo(id)}'`)

/**
 * Makes a caller's text safe to echo: without control characters, cut to 100 characters, and
 * without possible secrets such as tokens, Stellar seeds and other long unbroken runs. UUIDs
 * contain hyphens and stay.
 */
export function echo(value: string): string {
  // The filler makes a secret that the cut shortens long enough to be withheld.
  const start = value.length > ECHO_READ ? value.slice(0, ECHO_READ) + 'x'.repeat(40) : value
  const printable = start.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '')
  const harmless = printable.replace(/eyJ[\w.-]{8,}|[A-Za-z0-9_+=]{40,}/g, '[withheld]')
  return [...harmless.slice(0, 200)].slice(0, 100).join('')
}

const ECHO_READ = 1000
