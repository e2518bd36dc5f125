import { abortable, onAbort } from './abort.ts'
import {
  AuthenticationError,
  BursarError,
  ConnectionError,
  errorOf,
  UnknownParameterError,
} from './errors.ts'
import type { AttemptInfo, Hooks } from './hooks.ts'
import { type RetryOptions, wait, waitAfter } from './retry.ts'
import { systemTime } from './system-time.ts'
import type { Tokens } from './tokens.ts'

export type Fetch = (input: Request | URL, init?: RequestInit) => Promise<Response>

/** What openapi-fetch answers. */
export type Answer<T> = {
  readonly data?: T | undefined
  readonly error?: unknown
  readonly response: Response
  readonly isTokenEndpoint?: true
}

/** Sends a request once through the given `fetch`, and reads its answer. */
export type Send<T> = (
  fetch: Fetch,
  headers: Readonly<Record<string, string>>,
) => Promise<Answer<T>>

/** A successful answer. */
export type Received<T> = {
  readonly data: T
  readonly status: number
  readonly headers: Headers
  /** Names the request to the operator. */
  readonly requestId: string | undefined
}

export type CallOptions = RetryOptions & {
  readonly fetch: Fetch
  /** For one attempt, its body included. */
  readonly timeoutMs: number
  readonly hooks: Hooks
}

type MayRepeat = (error: BursarError) => boolean

/**
 * Sends a request, with a token unless it is for one, and repeats it as long as `mayRepeat` and the
 * options allow.
 */
export async function call<T>(
  send: Send<T>,
  tokens: Tokens | undefined,
  mayRepeat: MayRepeat,
  options: CallOptions,
  signal: AbortSignal | undefined,
): Promise<Received<T>> {
  signal?.throwIfAborted()
  let isRenewed = false
  let failures = 0
  for (let attempt = 1; ; attempt += 1) {
    // Outside the try, because a token's request has its own attempts.
    const token = tokens && (await abortable(tokens.current(), signal))
    const headers: Readonly<Record<string, string>> =
      token === undefined ? {} : { authorization: `Bearer ${token}` }
    const { received, error, info } = await sendOnce(send, headers, attempt, options, signal)
    if (received !== undefined) return received
    if (token !== undefined && error instanceof AuthenticationError && !isRenewed) {
      isRenewed = true
      tokens?.refuse(token)
      options.hooks.onRetry?.({ ...info, error, delayMs: 0 })
      continue
    }
    failures += 1
    const delayMs = mayRepeat(error) ? waitAfter(error, failures, options) : undefined
    if (delayMs === undefined) throw error
    options.hooks.onRetry?.({ ...info, error, delayMs })
    await wait(delayMs, signal)
  }
}

type Outcome<T> = { readonly info: AttemptInfo } & (
  | { readonly received: Received<T>; readonly error?: undefined }
  | { readonly received?: undefined; readonly error: BursarError }
)

/** One attempt. What is no BursarError, such as an aborted signal's reason, is thrown. */
async function sendOnce<T>(
  send: Send<T>,
  headers: Readonly<Record<string, string>>,
  attempt: number,
  { fetch, timeoutMs, hooks }: CallOptions,
  signal: AbortSignal | undefined,
): Promise<Outcome<T>> {
  const deadline = new AbortController()
  const stop = onAbort(signal, () => deadline.abort(signal?.reason))
  const cancel = systemTime.after(timeoutMs, () => deadline.abort())
  const sent: { info?: AttemptInfo; at: number } = { at: 0 }
  let answer: Answer<T>
  try {
    answer = await send((input, init) => {
      const info = infoOf(input, init, attempt)
      hooks.onRequest?.(info)
      Object.assign(sent, { info, at: systemTime.elapsedMs() })
      return fetch(input, { ...init, signal: deadline.signal })
    }, headers)
  } catch (error) {
    signal?.throwIfAborted()
    // What fails before `fetch` is a mistake of the caller, such as a malformed URL.
    if (sent.info === undefined) throw error
    const detail = deadline.signal.aborted
      ? `the server did not answer within ${timeoutMs} ms`
      : 'the connection to the server failed, or its answer was cut off'
    return { info: sent.info, error: new ConnectionError(detail, error) }
  } finally {
    cancel()
    stop()
  }
  const { status, headers: received } = answer.response
  const requestId = received.get('x-request-id') ?? undefined
  const { info = infoOf(new URL(answer.response.url), undefined, attempt) } = sent
  const durationMs = systemTime.elapsedMs() - sent.at
  hooks.onResponse?.({ ...info, status, headers: received, requestId, durationMs })
  const result = resultOf(answer, requestId)
  return result instanceof BursarError
    ? { info, error: result }
    : { info, received: { data: result.data, status, headers: received, requestId } }
}

function infoOf(input: Request | URL, init: RequestInit | undefined, attempt: number): AttemptInfo {
  const [url, method] = 'url' in input ? [input.url, input.method] : [input.href, init?.method]
  return { method: method ?? 'GET', path: new URL(url).pathname, attempt }
}

function resultOf<T>(
  { data, error, response, isTokenEndpoint }: Answer<T>,
  requestId: string | undefined,
): { readonly data: T } | BursarError {
  if (!response.ok) return errorOf(response, error, isTokenEndpoint)
  if (data === undefined) return new ConnectionError('the answer is empty or incomplete', undefined)
  const ignored = response.headers.get('x-ignored-parameters')
  if (ignored === null) return { data }
  const detail = `the server does not know these parameters and ignored them: ${ignored}`
  return new UnknownParameterError({ status: response.status, detail, requestId })
}
