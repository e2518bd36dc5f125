import { within } from './abort.ts'
import type { Bursar, BursarOptions, RequestOptions } from './bursar.ts'
import { type CallOptions, call } from './calls.ts'
import { tokenRequest } from './client-credentials.ts'
import { ConnectionError } from './errors.ts'
import { type Fetch, lenient } from './fetch.ts'
import type { RetryInfo } from './hooks.ts'
import { operationsOf } from './operations.ts'
import { requirePlainUrl } from './plain-url.ts'
import { mayRepeatRead } from './retry.ts'
import { requireRuntime } from './runtime.ts'
import { TIMER_MS_MAX } from './system-time.ts'
import { type AccessToken, type FetchToken, openTokens } from './tokens.ts'

/** Opens a client. It requests its first token with its first call. */
export function createBursar(options: BursarOptions): Bursar {
  requireRuntime(options)
  const baseUrl = requirePlainUrl('baseUrl', options.baseUrl).replace(/\/$/, '')
  if (/\/v2$/.test(new URL(baseUrl).pathname)) {
    throw new TypeError(
      'baseUrl must not end in /v2, because every path of a request begins with it',
    )
  }
  const { maxAttempts = 5, retryDelayMs = 1000, timeoutMs = 30_000, hooks = {} } = options
  // Browsers refuse a `fetch` that is called as a method, so it is never one.
  const given: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  const fetch = lenient(given)
  const defaults = checked({ maxAttempts, retryDelayMs, timeoutMs, fetch, hooks })
  const tokens = openTokens(fetchTokenOf(options, baseUrl, defaults), timeoutMs)
  return operationsOf(
    baseUrl,
    async (request, mayRepeat, own) =>
      call(request, tokens, mayRepeat, withOwn(defaults, own), own.signal),
    defaults,
  )
}

const withOwn = (defaults: CallOptions, own: RequestOptions): CallOptions =>
  checked({
    ...defaults,
    maxAttempts: own.maxAttempts ?? defaults.maxAttempts,
    timeoutMs: own.timeoutMs ?? defaults.timeoutMs,
  })

function checked(options: CallOptions): CallOptions {
  const { maxAttempts, retryDelayMs, timeoutMs } = options
  requireNumber('maxAttempts', maxAttempts, 1, Number.POSITIVE_INFINITY)
  requireNumber('retryDelayMs', retryDelayMs, 0, TIMER_MS_MAX)
  requireNumber('timeoutMs', timeoutMs, 1, TIMER_MS_MAX)
  return options
}

function requireNumber(name: string, value: unknown, min: number, max: number): void {
  if (typeof value === 'number' && value >= min && value <= max) return
  throw new TypeError(`${name} must be a number from ${min} to ${max}`)
}

function fetchTokenOf(
  options: BursarOptions,
  baseUrl: string,
  callOptions: CallOptions,
): FetchToken {
  const { hooks, timeoutMs } = callOptions
  if ('fetchToken' in options) {
    return async () => {
      const token = await within(options.fetchToken(), timeoutMs, undefined)
      if (token !== undefined) return token
      throw new ConnectionError(`fetchToken gave no token within ${timeoutMs} ms`, undefined)
    }
  }
  const request = tokenRequest(options, baseUrl)
  return async (extend) => {
    const onRetry = (retry: RetryInfo) => {
      extend(retry.delayMs)
      hooks.onRetry?.(retry)
    }
    const extending = { ...callOptions, hooks: { ...hooks, onRetry } }
    const { data } = await call<AccessToken>(
      request,
      undefined,
      mayRepeatRead,
      extending,
      undefined,
    )
    return data
  }
}
