import createClient from 'openapi-fetch'
import type { Bursar, BursarOptions } from './bursar.ts'
import { type CallOptions, call, callWithoutToken, type Fetch } from './calls.ts'
import { tokenRequest } from './client-credentials.ts'
import { operationsOf } from './operations.ts'
import type { paths } from './schema.ts'
import { openTokens } from './tokens.ts'

/** Opens a client. It requests its first token with its first call. */
export function createBursar(options: BursarOptions): Bursar {
  // A malformed address fails here, and not at the first call.
  const baseUrl = new URL(options.baseUrl).href.replace(/\/$/, '')
  const { maxAttempts = 5, retryDelayMs = 1000, timeoutMs = 30_000 } = options
  // Browsers refuse a `fetch` that is called as a method, so it is never one.
  const fetch: Fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const callOptions: CallOptions = { maxAttempts, retryDelayMs, timeoutMs, fetch }
  const tokens = openTokens(fetchTokenOf(options, baseUrl, callOptions), Date.now)
  return operationsOf(createClient<paths>({ baseUrl }), (send, mayRepeat, signal) =>
    call(
      (fetch, headers) => send({ fetch, headers }),
      ...([tokens, mayRepeat, callOptions, signal] as const),
    ),
  )
}

function fetchTokenOf(options: BursarOptions, baseUrl: string, callOptions: CallOptions) {
  if ('fetchToken' in options) return options.fetchToken
  const request = tokenRequest(options, baseUrl)
  return () => callWithoutToken(request, callOptions)
}
