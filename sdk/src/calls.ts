import { abortable, onAbort } from './abort.ts'
import {
  AuthenticationError,
  BursarError,
  ConnectionError,
  errorOf,
  UnknownParameterError,
} from './errors.ts'
import { mayRepeatRead, type RetryOptions, wait, waitAfter } from './retry.ts'
import type { Tokens } from './tokens.ts'

export type Fetch = (input: Request | URL, init?: RequestInit) => Promise<Response>

/** What openapi-fetch answers. */
export type Answer<T> = {
  readonly data?: T | undefined
  readonly error?: unknown
  readonly response: Response
}

/** Sends a request once through the given `fetch`, and reads its answer. */
export type Send<T> = (
  fetch: Fetch,
  headers: Readonly<Record<string, string>>,
) => Promise<Answer<T>>

export type Received<T> = { readonly data: T; readonly requestId: string | undefined }

export type CallOptions = RetryOptions & {
  readonly fetch: Fetch
  /** For one attempt, its body included. */
  readonly timeoutMs: number
}

/** Sends a request with a token, and repeats it as long as `mayRepeat` and the options allow. */
export async function call<T>(
  send: Send<T>,
  tokens: Tokens,
  mayRepeat: (error: BursarError) => boolean,
  options: CallOptions,
  signal: AbortSignal | undefined,
): Promise<Received<T>> {
  signal?.throwIfAborted()
  let isRenewed = false
  for (let failures = 1; ; failures += 1) {
    // Outside the try, because a token's request has its own attempts.
    const token = await abortable(tokens.current(), signal)
    try {
      return await sendOnce(send, { authorization: `Bearer ${token}` }, options, signal)
    } catch (error) {
      if (!(error instanceof BursarError)) throw error
      if (error instanceof AuthenticationError && !isRenewed) {
        isRenewed = true
        tokens.refuse(token)
        continue
      }
      await waitOrThrow(error, mayRepeat, failures, options, signal)
    }
  }
}

/** Sends a request that needs no token and is safe to repeat. */
export async function callWithoutToken<T>(send: Send<T>, options: CallOptions): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return (await sendOnce(send, {}, options, undefined)).data
    } catch (error) {
      if (!(error instanceof BursarError)) throw error
      await waitOrThrow(error, mayRepeatRead, failures, options, undefined)
    }
  }
}

async function waitOrThrow(
  error: BursarError,
  mayRepeat: (error: BursarError) => boolean,
  failures: number,
  options: CallOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const waitMs = mayRepeat(error) ? waitAfter(error, failures, options) : undefined
  if (waitMs === undefined) throw error
  await wait(waitMs, signal)
}

/** One attempt. Whatever `fetch` or the body fails with becomes a ConnectionError. */
async function sendOnce<T>(
  send: Send<T>,
  headers: Readonly<Record<string, string>>,
  { fetch, timeoutMs }: CallOptions,
  signal: AbortSignal | undefined,
): Promise<Received<T>> {
  const attempt = new AbortController()
  const stop = onAbort(signal, () => attempt.abort(signal?.reason))
  const timer = setTimeout(() => attempt.abort(), timeoutMs)
  let isSent = false
  try {
    const answer = await send((input, init) => {
      isSent = true
      return fetch(input, { ...init, signal: attempt.signal })
    }, headers)
    return receivedOf(answer)
  } catch (error) {
    signal?.throwIfAborted()
    // What fails before `fetch` is a mistake of the caller, such as a malformed URL.
    if (error instanceof BursarError || !isSent) throw error
    const detail = attempt.signal.aborted
      ? `the server did not answer within ${timeoutMs} ms`
      : 'the connection to the server failed, or its answer was cut off'
    throw new ConnectionError(detail, error)
  } finally {
    clearTimeout(timer)
    stop()
  }
}

function receivedOf<T>({ data, error, response }: Answer<T>): Received<T> {
  if (!response.ok) throw errorOf(response, error)
  if (data === undefined) throw new ConnectionError('the answer is empty or incomplete', undefined)
  const requestId = response.headers.get('x-request-id') ?? undefined
  const ignored = response.headers.get('x-ignored-parameters')
  if (ignored !== null) {
    const detail = `the server does not know these parameters and ignored them: ${ignored}`
    throw new UnknownParameterError({ status: response.status, detail, requestId })
  }
  return { data, requestId }
}
