import { STATUS_CODES } from 'node:http'

/**
 * The problems that have a type and a page of their own under `/problems/<slug>`. Every other problem is
 * `about:blank`, which says no more than its status (RFC 9457 section 4.2.1).
 */
export const problemTypes = {} as const satisfies Readonly<
  Record<string, { status: number; meaning: string; remedy: string }>
>

export type ProblemSlug = keyof typeof problemTypes

export type ParameterFault = { readonly parameter: string; readonly reason: string }

type ProblemExtras = {
  readonly slug?: ProblemSlug
  readonly meta?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/**
 * A caller's mistake or a known condition, as RFC 9457 tells it. `detail` is one sentence that says what to
 * change; `cause` is for the log alone. Thrown by any step of the walk, turned to bytes by the last.
 */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  readonly detail: string
  readonly slug: ProblemSlug | undefined
  readonly meta: Readonly<Record<string, unknown>> | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, detail: string, extras: ProblemExtras = {}) {
    super(detail, { cause: extras.cause })
    this.status = status
    this.detail = detail
    this.slug = extras.slug
    this.meta = extras.meta
    this.headers = extras.headers ?? {}
  }

  get title(): string {
    return STATUS_CODES[this.status] ?? 'Error'
  }
}

/** A caller's text as it may stand in an answer: freed of control characters, cut to 100 characters. */
export function echo(value: string): string {
  const printable = value.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '')
  return [...printable].slice(0, 100).join('')
}
