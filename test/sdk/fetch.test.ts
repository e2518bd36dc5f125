import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { exportPKCS8, generateKeyPair } from 'jose'
import {
  type Bursar,
  type BursarOptions,
  ConnectionError,
  createBursar,
  type Fetch,
  type FetchInit,
  UnknownParameterError,
} from '../../sdk/src/index.ts'
import { withdrawal } from '../support/operation-calls.ts'
import { settlesAfter } from '../support/settles-after.ts'
import { until } from '../support/until.ts'
import { takeTime } from '../support/virtual-time.ts'

const id = '11111111-1111-4111-8111-111111111111'
const baseUrl = 'http://127.0.0.1:1/behind'

/** The least that an answer of a `fetch` has. */
const answerOf = (body: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  ok: true,
  status: 200,
  headers: {
    get: (name: string) => headers[name] ?? null,
    has: (name: string) => name in headers,
    forEach: () => assert.fail('the client reads headers by their name'),
  },
  text: async () => JSON.stringify(body),
})
const granted = { access_token: 'the-token', expires_in: 900 }
const everything = { ...granted, id, items: [], statements: [], issuer_quote_executions: [] }

type Sent = { readonly url: string; readonly init: FetchInit }

/** A client, and what its `fetch` was given. */
function clientOf(answer: Fetch, options: Partial<Pick<BursarOptions, 'timeoutMs'>> = {}) {
  const sent: Sent[] = []
  const fetch: Fetch = (url, init) => {
    sent.push({ url, init })
    return answer(url, init)
  }
  const credentials = { clientId: 'a', clientSecret: 'b', retryDelayMs: 0 }
  return { sent, bursar: createBursar({ baseUrl, ...credentials, fetch, ...options }) }
}

const pathsOf = (sent: readonly Sent[]) => sent.map(({ url }) => new URL(url).pathname)

/** One call of each kind. */
const calls: Readonly<Record<string, (bursar: Bursar) => Promise<unknown>>> = {
  get: ({ fiatAccounts }) => fiatAccounts.get(id, { as_of: '2026-01-01T00:00:00Z' }),
  list: ({ statements }) =>
    statements.list({ customer_id: 'a b', ref_ids: ['ä&b', 'c'] }).toArray({ max: 9 }),
  'list without a match': ({ issuerQuotes }) => issuerQuotes.list({ ids: [] }).toArray({ max: 9 }),
  create: ({ cryptoWithdrawalFees }) => cryptoWithdrawalFees.create(withdrawal),
  event: ({ events }) => events.get(id),
  follow: ({ events }) =>
    events
      .follow({ types: ['statement.created'] })
      [Symbol.asyncIterator]()
      .next(),
}

describe('every request is a string and a plain init that asks for no cache', () => {
  const absent = ['Request', 'Response', 'Headers', 'FormData', 'fetch'] as const
  const kept = absent.map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  )
  beforeEach(() => {
    for (const name of absent) Reflect.deleteProperty(globalThis, name)
  })
  afterEach(() => {
    for (const [name, descriptor] of kept) {
      if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor)
    }
  })

  const requestOf = ({ url, init }: Sent) => {
    const { signal, headers, ...rest } = init
    assert.equal(typeof url, 'string')
    assert.ok(signal instanceof AbortSignal)
    for (const plain of [init, headers])
      assert.equal(Object.getPrototypeOf(plain), Object.prototype)
    return { url: url.replace(baseUrl, ''), headers, ...rest }
  }
  const token = {
    url: '/oauth2/token',
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${btoa('a:b')}`,
    },
    body: 'grant_type=client_credentials',
    cache: 'no-store',
  }
  const authorization = 'Bearer the-token'
  const read = { method: 'GET', headers: { authorization }, cache: 'no-store' }
  const expected: Readonly<Record<string, readonly object[]>> = {
    get: [{ ...read, url: `/v2/transfer/fiat-accounts/${id}?as_of=2026-01-01T00%3A00%3A00Z` }],
    list: [{ ...read, url: '/v2/statements?customer_id=a+b&ref_ids=%C3%A4%26b&ref_ids=c' }],
    create: [
      {
        url: '/v2/transfer/fees/crypto-withdrawal',
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify(withdrawal),
        cache: 'no-store',
      },
    ],
    event: [{ ...read, url: `/v2/events/${id}` }],
    follow: [{ ...read, url: '/v2/events?type=statement.created&wait=25&page_cursor=' }],
  }

  for (const [name, run] of Object.entries(calls)) {
    test(`${name}, with no global of the Fetch standard`, async () => {
      const events = { items: [{ id }], resume_cursor: 'c' }
      const { sent, bursar } = clientOf(async (url) =>
        answerOf(url.includes('/v2/events?') ? events : everything),
      )
      await run(bursar)
      const requests = expected[name] ?? []
      assert.deepEqual(sent.map(requestOf), requests.length === 0 ? [] : [token, ...requests])
    })
  }

  test('a token for a private key', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const sent: Sent[] = []
    const fetch: Fetch = async (url, init) => {
      sent.push({ url, init })
      return answerOf(everything)
    }
    const key = { clientId: 'a', privateKey: await exportPKCS8(privateKey) }
    await createBursar({ baseUrl, ...key, fetch }).fiatAccounts.get(id)
    const [first] = sent.map(requestOf)
    assert.deepEqual([first?.method, first?.cache], ['POST', 'no-store'])
    assert.equal(new URLSearchParams(first?.body).get('client_id'), 'a')
  })
})

describe('what the runtime refuses before it sends anything is left out', () => {
  const refusals: Readonly<Record<string, (init: FetchInit) => string | undefined>> = {
    cache: ({ cache }) =>
      cache && "The 'cache' field on 'RequestInitializerDict' is not implemented.",
    signal: ({ signal }) =>
      signal && 'RequestInit: Expected signal ("AbortSignal {}") to be an instance of AbortSignal.',
  }
  const both = (init: FetchInit) => refusals.cache?.(init) ?? refusals.signal?.(init)

  for (const [name, refuse] of Object.entries({ ...refusals, both })) {
    test(`${name}, in reads, fees and requests for tokens`, async () => {
      const reached: string[] = []
      const { bursar } = clientOf(async (url, init) => {
        const refusal = refuse(init)
        if (refusal !== undefined) throw new TypeError(refusal)
        reached.push(new URL(url).pathname)
        return answerOf(everything)
      })
      await bursar.fiatAccounts.get(id)
      await bursar.cryptoWithdrawalFees.create(withdrawal)
      assert.deepEqual(reached, [
        '/behind/oauth2/token',
        `/behind/v2/transfer/fiat-accounts/${id}`,
        '/behind/v2/transfer/fees/crypto-withdrawal',
      ])
    })
  }

  test('and a fee whose request failed for another reason is not sent again', async () => {
    for (const message of ['fetch failed', 'signal is aborted without reason', 'cache']) {
      const { bursar, sent } = clientOf(async (url) => {
        if (url.endsWith('/oauth2/token')) return answerOf(granted)
        throw new TypeError(message)
      })
      await assert.rejects(bursar.cryptoWithdrawalFees.create(withdrawal), ConnectionError)
      assert.equal(sent.length, 2, message)
    }
  })
})

test('an attempt ends in its time though `fetch` takes no notice of the signal', async () => {
  using time = takeTime()
  const { bursar, sent } = clientOf(async (url) =>
    url.endsWith('/oauth2/token') ? answerOf(granted) : new Promise<never>(() => {}),
  )
  const quoting = bursar.cryptoWithdrawalFees.create(withdrawal)
  await until(() => sent.length === 2)
  await assert.rejects(settlesAfter(time, 30_000, quoting), ConnectionError)
  assert.deepEqual([sent[1]?.init.signal?.aborted, time.waiting()], [true, 0])
})

test('an error by which Next.js ends a rendering is thrown at once, as it is', async () => {
  const bailout = Object.assign(new Error('no-store'), { digest: 'DYNAMIC_SERVER_USAGE' })
  const isBailout = (error: unknown) => error === bailout
  const atToken = clientOf(async () => Promise.reject(bailout))
  await assert.rejects(atToken.bursar.fiatAccounts.get(id), isBailout)
  assert.deepEqual(pathsOf(atToken.sent), ['/behind/oauth2/token'])
  const atRead = clientOf(async (url) =>
    url.endsWith('/oauth2/token') ? answerOf(granted) : Promise.reject(bailout),
  )
  await assert.rejects(atRead.bursar.fiatAccounts.get(id), isBailout)
  assert.equal(atRead.sent.length, 2)
})

test('a parameter that `fetch` itself appends is no unknown filter', async () => {
  const ignoring = (names: string) =>
    clientOf(async () => answerOf(everything, { 'x-ignored-parameters': names })).bursar
  assert.deepEqual(await ignoring('_').fiatAccounts.list().toArray({ max: 1 }), [])
  for (const names of ['ref_id', '_, ref_id', 'ref_id, _']) {
    const listing = ignoring(names).fiatAccounts.list().toArray({ max: 1 })
    await assert.rejects(listing, UnknownParameterError, names)
  }
})

test('a runtime that lacks a part is refused by its name when the client is created', (t) => {
  const mocked = t.mock.getter(URL.prototype, 'pathname', () => {
    throw new Error('URL.pathname is not implemented')
  })
  assert.throws(() => createBursar({ baseUrl, ...credentials }), {
    name: 'TypeError',
    message: 'the runtime lacks URL.pathname, which this client needs; load a polyfill first',
  })
  mocked.mock.restore()
  createBursar({ baseUrl, ...credentials })
})

test('an address that a URL parser would mend is refused with what to write', () => {
  for (const [url, message] of [
    ['127.0.0.1:8080', /^baseUrl must start with https:\/\/ or http:\/\//],
    ['localhost:8080', /^baseUrl must start with/],
    ['http:\\\\127.0.0.1', /^baseUrl must start with/],
    ['http://127.0.0.1:8080\r', /^baseUrl must have no blank, line end/],
    ['http://127.0.0.1:99999', /^baseUrl must be a URL/],
  ] as const) {
    assert.throws(() => createBursar({ baseUrl: url, ...credentials }), {
      name: 'TypeError',
      message,
    })
  }
})

const credentials = { clientId: 'a', clientSecret: 'b' }
