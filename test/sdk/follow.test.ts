import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  AuthenticationError,
  type Bursar,
  type BursarOptions,
  createBursar,
  type Event,
  GoneError,
  ServerError,
} from '../../sdk/src/index.ts'
import type { SampleCustomer } from '../../src/sandbox/world.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { describeSandbox, ndjson } from '../support/sandbox-control.ts'

type Scripted = () => Promise<Response> | Response
type Tuned = 'fetch' | 'hooks' | 'retryDelayMs' | 'timeoutMs' | 'maxAttempts'

/** A client whose requests are answered in turn, and the queries that it has sent. */
function clientOf(answers: readonly Scripted[], options: Partial<Pick<BursarOptions, Tuned>> = {}) {
  const queries: URLSearchParams[] = []
  const bursar = createBursar({
    baseUrl: 'http://127.0.0.1:1',
    fetchToken: async () => ({ access_token: 'token', expires_in: 900 }),
    retryDelayMs: 1,
    fetch: async (input, init) => {
      const { searchParams } = new URL('url' in input ? input.url : input.href)
      const answer = answers[queries.push(searchParams) - 1] ?? never
      const aborted = new Promise<never>((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))
      })
      return Promise.race([answer(), aborted])
    },
    ...options,
  })
  const cursors = () => queries.map((query) => query.get('page_cursor'))
  return { bursar, queries, cursors }
}

const never = () => new Promise<never>(() => {})
const failing =
  (status: number, headers = {}) =>
  () =>
    new Response('', { status, headers })
const broken = () => Promise.reject(new TypeError('fetch failed'))
const page =
  (ids: readonly string[], resume_cursor?: string, next_page_cursor?: string): Scripted =>
  () =>
    Response.json({ items: ids.map((id) => ({ id })), next_page_cursor, resume_cursor })

/** The first entries of a feed, each as its id and its cursor. */
async function some(feed: ReturnType<Bursar['events']['follow']>, count: number) {
  const read: string[] = []
  for await (const { event, cursor } of feed) {
    if (read.push(`${event.id} ${cursor}`) === count) break
  }
  return read
}

describe('follow', () => {
  test('goes on behind each page, with a cursor that repeats events and skips none', async () => {
    const pages = [page(['1', '2'], 'b', 'b'), page(['3'], 'c'), page([], 'c'), page(['4'], 'd')]
    const { bursar, cursors } = clientOf(pages)
    const read = await some(bursar.events.follow({ cursor: 'a' }), 4)
    assert.deepEqual(read, ['1 a', '2 b', '3 c', '4 d'])
    assert.deepEqual(cursors(), ['a', 'b', 'c', 'c'])
  })

  test('begins at the first event, and asks the server to wait for 30 s', async () => {
    const { bursar, queries } = clientOf([page(['1'], 'a'), page(['2'], 'b')])
    await some(bursar.events.follow(), 1)
    await some(bursar.events.follow({ types: ['statement.created'], wait: 5 }), 1)
    assert.deepEqual(queries.map(String), [
      'wait=30&page_cursor=',
      'type=statement.created&wait=5&page_cursor=',
    ])
  })

  test('gives pages with their cursor, also where a filter left no event', async () => {
    const { bursar } = clientOf([page([], 'b', 'b'), page([], 'b'), page(['1'], 'c')])
    const read: [number, string][] = []
    for await (const { events, cursor } of bursar.events.follow({ cursor: 'a' }).pages()) {
      if (read.push([events.length, cursor]) === 2) break
    }
    assert.deepEqual(read, [
      [0, 'b'],
      [1, 'c'],
    ])
  })

  test('goes on after 401, 429, 5xx and broken connections, from the same cursor', async () => {
    const { bursar, cursors } = clientOf([
      page(['1'], 'b'),
      failing(429),
      failing(503, { 'retry-after': '0' }),
      broken,
      failing(401),
      page(['2'], 'c'),
    ])
    assert.deepEqual(await some(bursar.events.follow({ cursor: 'a' }), 2), ['1 b', '2 c'])
    assert.deepEqual(cursors(), ['a', 'b', 'b', 'b', 'b', 'b'])
  })

  test('does not give up while the server is down, unless maxAttempts says so', async () => {
    const down = Array.from({ length: 12 }, () => failing(503))
    const { bursar, queries } = clientOf([...down, page(['1'], 'b')])
    assert.deepEqual(await some(bursar.events.follow({ cursor: 'a' }), 1), ['1 b'])
    assert.equal(queries.length, 13)
    const other = clientOf(down)
    const bounded = other.bursar.events.follow({ cursor: 'a', maxAttempts: 2 })
    await assert.rejects(some(bounded, 1), ServerError)
    assert.equal(other.queries.length, 2)
  })

  test('does not give up while no token can be had', async () => {
    let asked = 0
    const bursar = createBursar({
      baseUrl: 'http://127.0.0.1:1',
      clientId: 'a',
      clientSecret: 'b',
      retryDelayMs: 1,
      fetch: async (input) => {
        if ('url' in input) return page(['1'], 'b')()
        asked += 1
        return asked <= 7 ? failing(503)() : Response.json({ access_token: 'token' })
      },
    })
    assert.deepEqual(await some(bursar.events.follow({ cursor: 'a' }), 1), ['1 b'])
    assert.equal(asked, 8)
  })

  test('throws a GoneError if events after the cursor are gone', async () => {
    const { bursar, queries } = clientOf([page(['1'], 'b'), failing(410)])
    await assert.rejects(some(bursar.events.follow({ cursor: 'a' }), 2), (error) => {
      assert.ok(error instanceof GoneError)
      assert.deepEqual([error.name, error.status], ['GoneError', 410])
      return true
    })
    assert.equal(queries.length, 2)
  })

  test('throws what another attempt does not cure', async () => {
    for (const status of [400, 403]) {
      const { bursar } = clientOf([failing(status)])
      await assert.rejects(some(bursar.events.follow(), 1), { status })
    }
    const { bursar } = clientOf([failing(401), failing(401)])
    await assert.rejects(some(bursar.events.follow(), 1), AuthenticationError)
  })

  test('throws if the cursors of the server would lose or repeat events for ever', async () => {
    const faults = [
      { answer: page(['1']), message: /no resume_cursor/ },
      { answer: page(['1'], 'a'), message: /the same cursor again/ },
      { answer: page([], 'a', 'a'), message: /the same cursor again/ },
    ]
    for (const { answer, message } of faults) {
      const { bursar } = clientOf([answer, answer])
      const reading = some(bursar.events.follow({ cursor: 'a' }), 2)
      await assert.rejects(reading, { name: 'BursarError', message })
    }
  })

  test('pauses where a server without news does not wait', async () => {
    const quiet = Array.from({ length: 3 }, () => page([], 'a'))
    const { bursar, queries } = clientOf([...quiet, page(['1'], 'b')])
    await some(bursar.events.follow({ cursor: 'a' }), 1)
    assert.equal(queries.length, 4)
  })

  test('gives the server the time of an answer beyond the wait', async () => {
    const { bursar, queries } = clientOf([never, page(['1'], 'b')], { timeoutMs: 100 })
    assert.deepEqual(await some(bursar.events.follow({ cursor: 'a', wait: 1 }), 1), ['1 b'])
    assert.equal(queries.length, 2)
  })

  test('refuses options that would read nothing or another feed', () => {
    const { events } = clientOf([]).bursar
    const faulty: readonly (readonly [object, RegExp])[] = [
      [{ wait: 31 }, /^wait must be a number from 0 to 30$/],
      [{ wait: -1 }, /^wait must be/],
      [{ wait: Number.NaN }, /^wait must be/],
      [{ types: [] }, /^types must not be empty/],
      [{ types: [undefined] }, /^types must not contain undefined/],
      [{ cursor: null }, /^cursor must not be null/],
    ]
    for (const [options, message] of faulty) {
      assert.throws(() => events.follow(options), { name: 'TypeError', message })
    }
  })
})

describe('a signal ends follow without an error', () => {
  const ended = async (
    answers: readonly Scripted[],
    abortAt: (controller: AbortController) => Partial<Pick<BursarOptions, Tuned>>,
    onEvent = (_controller: AbortController) => {},
  ) => {
    const controller = new AbortController()
    const { bursar } = clientOf(answers, abortAt(controller))
    const read: string[] = []
    const { signal } = controller
    for await (const { event } of bursar.events.follow({ cursor: 'a', signal })) {
      read.push(event.id)
      onEvent(controller)
    }
    return read
  }

  test('before it begins, while the server waits, and while it waits itself', async () => {
    assert.deepEqual(
      await ended([page(['1'], 'b')], (controller) => {
        controller.abort()
        return {}
      }),
      [],
    )
    const atRequest = (attempt: number) => (controller: AbortController) => {
      let sent = 0
      const onRequest = () => {
        sent += 1
        if (sent === attempt) setImmediate(() => controller.abort())
      }
      return { hooks: { onRequest }, retryDelayMs: 60_000 }
    }
    assert.deepEqual(await ended([page(['1'], 'b')], atRequest(2)), ['1'])
    assert.deepEqual(await ended([page(['1'], 'b'), page([], 'b')], atRequest(2)), ['1'])
    assert.deepEqual(await ended([failing(503)], atRequest(1)), [])
  })

  test('between two events of a page', async () => {
    const read = await ended(
      [page(['1', '2'], 'b')],
      () => ({}),
      (controller) => controller.abort(),
    )
    assert.deepEqual(read, ['1'])
  })
})

describe('the feed of a sandbox', () => {
  const sandbox = describeSandbox()
  const clientFor = ({ clientId, clientSecret }: SampleCustomer) =>
    createBursar({ baseUrl: sandbox.url, clientId, clientSecret, retryDelayMs: 5 })
  const put = async (customer: SampleCustomer, ids: readonly number[], over: object = {}) => {
    const records = ids.map((at) =>
      aFiatAccount({ id: anId(at), customer_id: customer.customerId, ...over }),
    )
    const answered = await sandbox.control(
      'PUT',
      '/sandbox/records/fiat-accounts',
      ndjson(...records),
    )
    assert.equal(answered.status, 200, answered.text)
  }

  test('has every change once and in order, for a reader that stops and goes on', async () => {
    const customer = await sandbox.customer()
    const bursar = clientFor(customer)
    const seen: Event[] = []
    let cursor: string | undefined
    let written = 0
    const write = () => {
      written += 1
      return put(customer, [1000 + written])
    }
    await write()
    while (seen.length < 12) {
      for await (const followed of bursar.events.follow(cursor === undefined ? {} : { cursor })) {
        seen.push(followed.event)
        cursor = followed.cursor
        if (written < 12) await write()
        if (seen.length % 3 === 0) break
      }
    }
    assert.deepEqual(
      seen.map(({ type, object }) => [type, object.id]),
      Array.from({ length: 12 }, (_, at) => ['fiat_account.created', anId(1001 + at)]),
    )
    const listed = await bursar.events.list({ limit: 5 }).toArray({ max: 100 })
    assert.deepEqual(listed, seen)
    assert.deepEqual(await bursar.events.get(listed[0]?.id ?? ''), listed[0])
  })

  test('shows a page again to a reader that stopped in the middle of it', async () => {
    const customer = await sandbox.customer()
    await put(customer, [2001, 2002, 2003])
    const { events } = clientFor(customer)
    const read = async (cursor: string, count: number) => {
      const entries: { readonly id: string; readonly cursor: string }[] = []
      for await (const { event, cursor: after } of events.follow({ cursor })) {
        if (entries.push({ id: event.object.id, cursor: after }) === count) break
      }
      return entries
    }
    const [, second] = await read('', 2)
    assert.ok(second !== undefined)
    const again = await read(second.cursor, 3)
    assert.deepEqual(
      again.map(({ id }) => id),
      [2001, 2002, 2003].map(anId),
    )
    await put(customer, [2004])
    const [last] = await read(again.at(-1)?.cursor ?? '', 1)
    assert.equal(last?.id, anId(2004))
  })

  test('leads to each version by as_of', async () => {
    const customer = await sandbox.customer()
    const [id] = [anId(3001)]
    for (const ref_id of ['first', 'second', 'third']) await put(customer, [3001], { ref_id })
    const { events, fiatAccounts } = clientFor(customer)
    const refs: (string | undefined)[] = []
    for await (const { type, object, as_of } of events.list()) {
      assert.equal(type, refs.length === 0 ? 'fiat_account.created' : 'fiat_account.updated')
      refs.push((await fiatAccounts.get(object.id, { as_of })).ref_id)
      const [listed] = await fiatAccounts.list({ ids: [id], as_of }).toArray({ max: 1 })
      assert.equal(listed?.ref_id, refs.at(-1))
    }
    assert.deepEqual(refs, ['first', 'second', 'third'])
  })

  test('has a cursor behind the newest event, for a reader that begins with the lists', async () => {
    const customer = await sandbox.customer()
    await put(customer, [4001, 4002])
    const { events } = clientFor(customer)
    let cursor: string | undefined
    for await (const page of events.list({ order: 'DESC', limit: 1 }).pages()) {
      cursor = page.resumeCursor
      break
    }
    await put(customer, [4003])
    for await (const { event } of events.follow({ cursor })) {
      assert.equal(event.object.id, anId(4003))
      break
    }
  })

  test('has the events of the chosen types only', async () => {
    const customer = await sandbox.customer()
    await put(customer, [5001, 5002])
    await put(customer, [5002], { ref_id: 'changed' })
    const { events } = clientFor(customer)
    for await (const { event } of events.follow({ types: ['fiat_account.updated'] })) {
      assert.deepEqual([event.type, event.object.id], ['fiat_account.updated', anId(5002)])
      break
    }
  })
})
