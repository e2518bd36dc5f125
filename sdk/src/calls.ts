import { pause, within } from './abort.ts'
import {
  AuthenticationError,
  BursarError,
  ConnectionError,
  errorOf,
  UnknownParameterError,
} from './errors.ts'
import type { AnswerHeaders, Fetch, FetchAnswer } from './fetch.ts'
import type { AttemptInfo, Hooks } from './hooks.ts'
import { type RetryOptions, waitAfter } from './retry.ts'
import { systemTime } from './system-time.ts'
import type { Caller, Tokens } from './tokens.ts'

/** A request, without the token that it is sent with. */
export type Outgoing = {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** Made anew for each attempt, because a server takes an assertion once. */
  readonly content?: () => Promise<Content>
  readonly isTokenEndpoint?: true
}

export type Content = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A successful answer. */
export type Received<T> = {
  readonly data: T
  readonly status: number
  readonly headers: AnswerHeaders
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
  request: Outgoing,
  tokens: Tokens | undefined,
  mayRepeat: MayRepeat,
  options: CallOptions,
  signal: AbortSignal | undefined,
): Promise<Received<T>> {
  signal?.throwIfAborted()
  const caller = { signal, isOver: false }
  try {
    return await untilAnswered<T>(request, tokens, mayRepeat, options, caller)
  } finally {
    caller.isOver = true
  }
}

async function untilAnswered<T>(
  request: Outgoing,
  tokens: Tokens | undefined,
  mayRepeat: MayRepeat,
  options: CallOptions,
  caller: Caller,
): Promise<Received<T>> {
  const { signal } = caller
  let isRenewed = false
  let failures = 0
  for (let attempt = 1; ; attempt += 1) {
    // A token's request has its own attempts.
    const token = await tokens?.current(caller)
    const { received, error, info } = await sendOnce<T>(request, token, attempt, options, signal)
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
    await pause(delayMs, signal)
  }
}

type Outcome<T> = { readonly info: AttemptInfo } & (
  | { readonly received: Received<T>; readonly error?: undefined }
  | { readonly received?: undefined; readonly error: BursarError }
)

/** One attempt. What is no BursarError, such as an aborted signal's reason, is thrown. */
async function sendOnce<T>(
  request: Outgoing,
  token: string | undefined,
  attempt: number,
  { fetch, timeoutMs, hooks }: CallOptions,
  signal: AbortSignal | undefined,
): Promise<Outcome<T>> {
  const { method, url } = request
  const info = { method, path: new URL(url).pathname, attempt }
  const { headers: own, ...body } = (await request.content?.()) ?? {}
  const headers = { ...own, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  hooks.onRequest?.(info)
  const sentAt = systemTime.elapsedMs()
  const deadline = new AbortController()
  const init = { method, headers, ...body, cache: 'no-store', signal: deadline.signal } as const
  const exchange = async () => {
    signal?.throwIfAborted()
    const response = await fetch(url, init)
    return { response, text: await response.text() }
  }
  let answer: Answer | undefined
  try {
    answer = await within(exchange(), timeoutMs, signal)
    if (answer === undefined) {
      const detail = `the server did not answer within ${timeoutMs} ms`
      return { info, error: new ConnectionError(detail, undefined) }
    }
  } catch (error) {
    signal?.throwIfAborted()
    if (isOfNext(error)) throw error
    const detail = 'the connection to the server failed, or its answer was cut off'
    return { info, error: new ConnectionError(detail, error) }
  } finally {
    if (answer === undefined) deadline.abort()
  }
  const { status, headers: received } = answer.response
  const requestId = received.get('x-request-id') ?? undefined
  const durationMs = systemTime.elapsedMs() - sentAt
  hooks.onResponse?.({ ...info, status, headers: received, requestId, durationMs })
  const result = resultOf<T>(request, answer, requestId)
  return result instanceof BursarError
    ? { info, error: result }
    : { info, received: { data: result.data, status, headers: received, requestId } }
}

type Answer = { readonly response: FetchAnswer; readonly text: string }

/** Next.js ends the rendering of a page by errors of `fetch` that it must get as they are. */
const isOfNext = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'digest' in error

function resultOf<T>(
  { isTokenEndpoint }: Outgoing,
  { response, text }: Answer,
  requestId: string | undefined,
): { readonly data: T } | BursarError {
  const data = parsed(text)
  if (!response.ok) return errorOf(response, data, isTokenEndpoint)
  if (data === undefined) return new ConnectionError('the answer is empty or incomplete', undefined)
  const ignored = response.headers.get('x-ignored-parameters')
  // The `fetch` of React Native appends `_` to keep an answer out of caches.
  if (ignored === null || ignored === '_') return { data }
  const detail = `the server does not know these parameters and ignored them: ${ignored}`
  return new UnknownParameterError({ status: response.status, detail, requestId })
}

/** Not `json()`, whose error would quote a body that may hold account numbers. */
function parsed(text: string) {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}
