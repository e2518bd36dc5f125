import type { Client } from 'openapi-fetch'
import type { Bursar, BursarOptions, Call, Event, Query, RequestOptions } from './bursar.ts'
import type { Answer, Fetch, Received } from './calls.ts'
import type { BursarError } from './errors.ts'
import { followed, WAIT_SECONDS_MAX } from './follow.ts'
import { type List, listOf, type Page } from './list.ts'
import { mayRepeatRead, mayRepeatWrite } from './retry.ts'
import type { paths } from './schema.ts'
import { TIMER_MS_MAX } from './system-time.ts'

type Init = { readonly fetch: Fetch; readonly headers: Readonly<Record<string, string>> }
type Send<T> = (init: Init) => Promise<Answer<T>>
type Perform = <T>(
  send: Send<T>,
  mayRepeat: (error: BursarError) => boolean,
  options: RequestOptions,
) => Promise<Received<T>>

/**
 * The operations of the document. Their queries have the names of the document, so one guide
 * serves every language.
 */
export function operationsOf(api: Client<paths>, perform: Perform, defaults: FeedDefaults): Bursar {
  const read = <T>(send: Send<T>, options: RequestOptions, filters = {}): Call<T> => {
    const received = async () => {
      requireValues(filters)
      return perform(send, mayRepeatRead, options)
    }
    return callOf(received())
  }
  const list = listsOf(perform)
  return {
    events: {
      get: (id, options = {}) => {
        const params = { path: { id } }
        return read((init) => api.GET('/v2/events/{id}', { ...init, params }), options)
      },
      ...feedOf(api, perform, defaults),
    },
    fiatAccounts: {
      get: (id, { signal, maxAttempts, timeoutMs, ...query } = {}) => {
        const params = { path: { id }, query }
        const path = '/v2/transfer/fiat-accounts/{id}'
        const send = (init: Init) => api.GET(path, { ...init, params })
        return read(send, { signal, maxAttempts, timeoutMs }, query)
      },
      list: (filters = {}, options = {}) => {
        const path = '/v2/transfer/fiat-accounts'
        const send = (params: Params<typeof filters>) => (init: Init) =>
          api.GET(path, { ...init, params })
        return list(filters, options, send, ({ items }) => items)
      },
    },
    fiatDepositInstructions: {
      get: (id, { signal, maxAttempts, timeoutMs, ...query } = {}) => {
        const params = { path: { id }, query }
        const path = '/v2/transfer/fiat-deposit-instructions/{id}'
        const send = (init: Init) => api.GET(path, { ...init, params })
        return read(send, { signal, maxAttempts, timeoutMs }, query)
      },
      list: (filters = {}, options = {}) => {
        const path = '/v2/transfer/fiat-deposit-instructions'
        const send = (params: Params<typeof filters>) => (init: Init) =>
          api.GET(path, { ...init, params })
        return list(filters, options, send, ({ items }) => items)
      },
    },
    depositAddresses: {
      list: (filters = {}, options = {}) => {
        const path = '/v2/transfer/deposit-addresses'
        const send = (params: Params<typeof filters>) => (init: Init) =>
          api.GET(path, { ...init, params })
        return list(filters, options, send, ({ items }) => items)
      },
    },
    statements: {
      list: (filters, options = {}) => {
        const send = (params: Params<typeof filters>) => (init: Init) =>
          api.GET('/v2/statements', { ...init, params })
        return list(filters, options, send, ({ statements }) => statements)
      },
    },
    issuerQuotes: {
      list: (filters = {}, options = {}) => {
        const send = (params: Params<typeof filters>) => (init: Init) =>
          api.GET('/v2/issuer-quotes', { ...init, params })
        return list(filters, options, send, (page) => page.issuer_quote_executions)
      },
    },
    cryptoWithdrawalFees: {
      create: (body, options = {}) => {
        const path = '/v2/transfer/fees/crypto-withdrawal'
        const send = (init: Init) => api.POST(path, { ...init, body })
        return callOf(perform(send, mayRepeatWrite, options))
      },
    },
  }
}

type FeedDefaults = Required<Pick<BursarOptions, 'retryDelayMs' | 'timeoutMs'>>

function feedOf(
  api: Client<paths>,
  perform: Perform,
  { retryDelayMs, timeoutMs }: FeedDefaults,
): Omit<Bursar['events'], 'get'> {
  const send = (params: Params<Query<'listEvents'>>) => (init: Init) =>
    api.GET('/v2/events', { ...init, params })
  return {
    list: (filters = {}, options = {}) =>
      listsOf(perform)(filters, options, send, ({ items }) => items),
    follow: ({ types: type, ...options } = {}) => {
      requireValues({ ...options, types: type })
      if (type?.length === 0) throw new TypeError('types must not be empty, or no event matches')
      const { signal, maxAttempts, wait = WAIT_SECONDS_MAX } = options
      // The server answers in its usual time after the wait.
      const longestMs = Math.min(wait * 1000 + timeoutMs, TIMER_MS_MAX)
      const own = { signal, maxAttempts, timeoutMs: longestMs }
      const query = { ...(type && { type: [...type] }), wait }
      const readPage = pagesOf(perform)(query, own, send, ({ items }) => items)
      return followed<Event>(readPage, options, retryDelayMs)
    },
  }
}

/** Only one of the two promises is awaited, so the other must not count as unhandled. */
function callOf<T>(received: Promise<Received<T>>): Call<T> {
  const data = received.then((answer) => answer.data)
  const withResponse = () => {
    data.catch(() => {})
    return received
  }
  return Object.assign(data, { withResponse })
}

type Params<Filters> = { readonly query: Filters }

type PagedQuery = { readonly page_cursor?: string }
type PagedBody = { readonly next_page_cursor?: string; readonly resume_cursor?: string }

/** Reads pages: `send` requests one, and `itemsOf` takes the records out of its body. */
const pagesOf =
  (perform: Perform) =>
  <Filters extends PagedQuery, Body extends PagedBody, T>(
    filters: Filters,
    options: RequestOptions,
    send: (params: Params<Filters>) => Send<Body>,
    itemsOf: (body: Body) => readonly T[],
  ) =>
  async (cursor: string | undefined): Promise<Page<T>> => {
    // The caller may have changed them since.
    requireValues(filters)
    // No record matches an empty filter. A URL cannot say so: without the filter all match.
    if (Object.values(filters).some((value) => Array.isArray(value) && value.length === 0)) {
      return { items: [], nextPageCursor: undefined, requestId: undefined, headers: new Headers() }
    }
    const query = cursor === undefined ? filters : { ...filters, page_cursor: cursor }
    const answer = await perform(send({ query }), mayRepeatRead, options)
    const { data, requestId, headers } = answer
    const { next_page_cursor: nextPageCursor, resume_cursor: resumeCursor } = data
    const page = { items: itemsOf(data), nextPageCursor, requestId, headers }
    return resumeCursor === undefined ? page : { ...page, resumeCursor }
  }

/** Returns lists of such pages. */
const listsOf =
  (perform: Perform) =>
  <Filters extends PagedQuery, Body extends PagedBody, T>(
    filters: Filters,
    options: RequestOptions,
    send: (params: Params<Filters>) => Send<Body>,
    itemsOf: (body: Body) => readonly T[],
  ): List<T> => {
    requireValues(filters)
    return listOf(pagesOf(perform)(filters, options, send, itemsOf), options.signal)
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
