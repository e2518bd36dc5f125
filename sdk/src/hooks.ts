import type { BursarError } from './errors.ts'
import type { AnswerHeaders } from './fetch.ts'

/** One attempt of a request. Neither its query nor its headers, which hold the token. */
export type AttemptInfo = {
  readonly method: string
  /** Such as `/v2/statements` or `/oauth2/token`, without the query. */
  readonly path: string
  /** 1 for the first. */
  readonly attempt: number
}

export type ResponseInfo = AttemptInfo & {
  readonly status: number
  /** Of the answer. */
  readonly headers: AnswerHeaders
  readonly requestId: string | undefined
  /** Until the body was read. */
  readonly durationMs: number
}

export type RetryInfo = AttemptInfo & {
  /** Why the attempt failed. */
  readonly error: BursarError
  /** How long the client waits before the next attempt. */
  readonly delayMs: number
}

/** Called for requests of records, fees and tokens. A call fails with what its hook throws. */
export type Hooks = {
  readonly onRequest?: (request: AttemptInfo) => void
  /** For every complete answer, errors included. */
  readonly onResponse?: (response: ResponseInfo) => void
  readonly onRetry?: (retry: RetryInfo) => void
}
