import type { Bursar, BursarOptions, Call, Event, RequestOptions } from './bursar.ts'
import type { Outgoing, Received } from './calls.ts'
import type { BursarError } from './errors.ts'
import { followed, WAIT_SECONDS_DEFAULT } from './follow.ts'
import { type List, listOf, type Page } from './list.ts'
import { mayRepeatRead, mayRepeatWrite } from './retry.ts'
import type { paths } from './schema.ts'
import { TIMER_MS_MAX } from './system-time.ts'

type Perform = <T>(
  request: Outgoing,
  mayRepeat: (error: BursarError) => boolean,
  options: RequestOptions,
) => Promise<Received<T>>

type FeedDefaults = Required<Pick<BursarOptions, 'retryDelayMs' | 'timeoutMs'>>

/** The body of a successful answer. */
type Body<
  Path extends keyof paths,
  Method extends 'get' | 'post' = 'get',
> = paths[Path][Method] extends { responses: { 200: { content: { 'application/json': infer T } } } }
  ? T
  : never

/**
 * The operations of the document. Their queries have the names of the document, so one guide
 * serves every language.
 */
export function operationsOf(baseUrl: string, perform: Perform, defaults: FeedDefaults): Bursar {
  const get =
    <Path extends keyof paths>(path: Path) =>
    (
      id: string,
      { signal, maxAttempts, timeoutMs, ...query }: RequestOptions = {},
    ): Call<Body<Path>> => {
      const received = async () => {
        requireValues(query)
        const url = `${baseUrl}${path.replace('{id}', encodeURIComponent(id))}${searchOf(query)}`
        const options = { signal, maxAttempts, timeoutMs }
        return perform<Body<Path>>({ method: 'GET', url }, mayRepeatRead, options)
      }
      return callOf(received())
    }
  const pages =
    <Path extends keyof paths, T>(path: Path, itemsOf: (body: Body<Path>) => readonly T[]) =>
    (filters: object, options: RequestOptions) =>
    async (cursor: string | undefined): Promise<Page<T>> => {
      // The caller may have changed them since.
      requireValues(filters)
      // No record matches an empty filter. A URL cannot say so: without the filter all match.
      if (Object.values(filters).some((value) => Array.isArray(value) && value.length === 0)) {
        return { items: [], nextPageCursor: undefined, requestId: undefined, headers: noHeaders() }
      }
      const query = cursor === undefined ? filters : { ...filters, page_cursor: cursor }
      const url = `${baseUrl}${path}${searchOf(query)}`
      const answer = await perform<Body<Path> & Cursors>(
        { method: 'GET', url },
        mayRepeatRead,
        options,
      )
      const { data, requestId, headers } = answer
      const { next_page_cursor: nextPageCursor, resume_cursor: resumeCursor } = data
      const page = { items: itemsOf(data), nextPageCursor, requestId, headers }
      return resumeCursor === undefined ? page : { ...page, resumeCursor }
    }
  const list = <Path extends keyof paths, T>(
    path: Path,
    itemsOf: (body: Body<Path>) => readonly T[],
  ) => {
    const pagesOf = pages(path, itemsOf)
    return (filters: object = {}, options: RequestOptions = {}): List<T> => {
      requireValues(filters)
      return listOf(pagesOf(filters, options), options.signal)
    }
  }
  const eventPages = pages('/v2/events', ({ items }) => items)
  return {
    events: {
      get: get('/v2/events/{id}'),
      list: list('/v2/events', ({ items }) => items),
      follow: ({ types: type, ...options } = {}) => {
        requireValues({ ...options, types: type })
        if (type?.length === 0) throw new TypeError('types must not be empty, or no event matches')
        const { signal, maxAttempts, wait = WAIT_SECONDS_DEFAULT } = options
        // The server answers in its usual time after the wait.
        const timeoutMs = Math.min(wait * 1000 + defaults.timeoutMs, TIMER_MS_MAX)
        const query = { ...(type && { type: [...type] }), wait }
        const readPage = eventPages(query, { signal, maxAttempts, timeoutMs })
        return followed<Event>(readPage, { ...options, wait }, defaults.retryDelayMs)
      },
    },
    fiatAccounts: {
      get: get('/v2/transfer/fiat-accounts/{id}'),
      list: list('/v2/transfer/fiat-accounts', ({ items }) => items),
    },
    fiatDepositInstructions: {
      get: get('/v2/transfer/fiat-deposit-instructions/{id}'),
      list: list('/v2/transfer/fiat-deposit-instructions', ({ items }) => items),
    },
    depositAddresses: { list: list('/v2/transfer/deposit-addresses', ({ items }) => items) },
    statements: { list: list('/v2/statements', ({ statements }) => statements) },
    issuerQuotes: { list: list('/v2/issuer-quotes', (page) => page.issuer_quote_executions) },
    cryptoWithdrawalFees: {
      create: (quote, options = {}) => {
        const path = '/v2/transfer/fees/crypto-withdrawal'
        const headers = { 'content-type': 'application/json' }
        const content = async () => ({ headers, body: JSON.stringify(quote) })
        const request = { method: 'POST', url: `${baseUrl}${path}`, content } as const
        return callOf(perform<Body<typeof path, 'post'>>(request, mayRepeatWrite, options))
      },
    },
  }
}

type Cursors = { readonly next_page_cursor?: string; readonly resume_cursor?: string }

/** Those of an answer that was not requested. A Map would answer undefined for what it lacks. */
const noHeaders = () => Object.assign(new Map<string, string>(), { get: () => null })

/** Only one of the two promises is awaited, so the other must not count as unhandled. */
function callOf<T>(received: Promise<Received<T>>): Call<T> {
  const data = received.then((answer) => answer.data)
  const withResponse = () => {
    data.catch(() => {})
    return received
  }
  return Object.assign(data, { withResponse })
}

/** Parameters with their question mark. An array is repeated, and undefined is absent. */
function searchOf(query: object): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) {
      if (each !== undefined) parameters.append(name, each)
    }
  }
  const search = parameters.toString()
  return search && `?${search}`
}

/**
 * Throws a TypeError for a filter that names no value, before anything is sent: a URL cannot hold
 * null, so the filter would be left out and the server would answer every record. A parameter that
 * is undefined is absent, as spreads of optional values make it.
 */
function requireValues(filters: unknown): void {
  if (typeof filters !== 'object' || filters === null) {
    throw new TypeError('the filters must be an object, such as { limit: 100 }')
  }
  for (const [name, value] of Object.entries(filters)) {
    if (value === null) throw new TypeError(`${name} must not be null; leave it out to not filter`)
    if (!Array.isArray(value)) continue
    // Not `some`, which skips the holes of an array.
    const at = value.findIndex((entry) => entry === null || entry === undefined)
    if (at >= 0) throw new TypeError(`${name} must not contain ${value[at]}, as entry ${at} is`)
  }
}
