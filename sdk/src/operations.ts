import type { Client } from 'openapi-fetch'
import type { Bursar, RequestOptions } from './bursar.ts'
import type { Answer, Fetch, Received } from './calls.ts'
import type { BursarError } from './errors.ts'
import { requireValues } from './filters.ts'
import { type List, listOf, type Page } from './list.ts'
import { mayRepeatRead, mayRepeatWrite } from './retry.ts'
import type { paths } from './schema.ts'

type Init = { readonly fetch: Fetch; readonly headers: Readonly<Record<string, string>> }
type Send<T> = (init: Init) => Promise<Answer<T>>
type Call = <T>(
  send: Send<T>,
  mayRepeat: (error: BursarError) => boolean,
  signal: AbortSignal | undefined,
) => Promise<Received<T>>

/** The eight operations of the document. Their queries have the names of the document. */
export function operationsOf(api: Client<paths>, call: Call): Bursar {
  const read = async <T>(send: Send<T>, signal: AbortSignal | undefined): Promise<T> =>
    (await call(send, mayRepeatRead, signal)).data
  const list = listsOf(call)

  return {
    fiatAccounts: {
      get: async (id, { signal, ...query } = {}) => {
        requireValues(query)
        const params = { path: { id }, query }
        const path = '/v2/transfer/fiat-accounts/{id}'
        return read((init) => api.GET(path, { ...init, params }), signal)
      },
      list: (filters = {}, options = {}) => {
        const path = '/v2/transfer/fiat-accounts'
        const send = (params: Params<typeof filters>) => (init: Init) =>
          api.GET(path, { ...init, params })
        return list(filters, options, send, ({ items }) => items)
      },
    },
    fiatDepositInstructions: {
      get: (id, { signal } = {}) => {
        const params = { path: { id } }
        const path = '/v2/transfer/fiat-deposit-instructions/{id}'
        return read((init) => api.GET(path, { ...init, params }), signal)
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
      create: async (body, { signal } = {}) => {
        const path = '/v2/transfer/fees/crypto-withdrawal'
        const send = (init: Init) => api.POST(path, { ...init, body })
        return (await call(send, mayRepeatWrite, signal)).data
      },
    },
  }
}

type Params<Query> = { readonly query: Query }

/** Returns lists: `send` requests a page, and `itemsOf` takes the records out of its body. */
const listsOf =
  (call: Call) =>
  <
    Query extends { readonly page_cursor?: string },
    Body extends { readonly next_page_cursor?: string },
    T,
  >(
    filters: Query,
    { signal }: RequestOptions,
    send: (params: Params<Query>) => Send<Body>,
    itemsOf: (body: Body) => readonly T[],
  ): List<T> => {
    requireValues(filters)
    const readPage = async (cursor: string | undefined): Promise<Page<T>> => {
      // The caller may have changed them since.
      requireValues(filters)
      // No record matches an empty filter. A URL cannot say so: without the filter all match.
      if (Object.values(filters).some((value) => Array.isArray(value) && value.length === 0)) {
        return { items: [], nextPageCursor: undefined, requestId: undefined }
      }
      const query = cursor === undefined ? filters : { ...filters, page_cursor: cursor }
      const { data, requestId } = await call(send({ query }), mayRepeatRead, signal)
      return { items: itemsOf(data), nextPageCursor: data.next_page_cursor, requestId }
    }
    return listOf(readPage, signal)
  }
