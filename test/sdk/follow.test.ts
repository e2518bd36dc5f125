import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SampleCustomer } from '../../packages/sandbox/src/sample-records.ts'
import {
  AuthenticationError,
  type Bursar,
  createBursar,
  type Event,
  GoneError,
  type ResponseInfo,
  ServerError,
} from '../../sdk/src/index.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { describeSandbox, ndjson } from '../support/sandbox-control.ts'
import {
  assertSentAfter,
  failing,
  never,
  type Scripted,
  type ScriptedOptions,
  scriptedClient,
  scriptedFetch,
} from '../support/scripted-client.ts'
import { until } from '../support/until.ts'
import { takeTime } from '../support/virtual-time.ts'

const broken = () => Promise.reject(new TypeError('fetch failed'))
const page =
  (ids: readonly string[], resume_cursor?: string, next_page_cursor?: string): Scripted =>
  () =>
    Response.json({ items: ids.map((id) => ({ id })), next_page_cursor, resume_cursor })

/** A client whose requests are answered in turn, and the cursors that it has sent. */
function clientOf(answers: readonly Scripted[], options: ScriptedOptions = {}) {
  const scripted = scriptedClient(answers, { retryDelayMs: 1, ...options })
  return {
    ...scripted,
    cursors: () => scripted.queries.map((query) => query.get('page_cursor')),
  }
}

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

  test('begins at the first event, and asks the server to wait for 25 s', async () => {
    const { bursar, queries } = clientOf([page(['1'], 'a'), page(['2'], 'b')])
    await some(bursar.events.follow(), 1)
    await some(bursar.events.follow({ types: ['statement.created'], wait: 5 }), 1)
    assert.deepEqual(queries.map(String), [
      'wait=25&page_cursor=',
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

  /** The attempts of a request have their delays, and then the feed waits for 30 first delays. */
  const waitsOfRequest = [1, 2, 4, 8, 30].map((seconds) => seconds * 1000)

  test('does not give up while the server is down, unless maxAttempts says so', async (t) => {
    t.mock.method(Math, 'random', () => 0)
    using time = takeTime()
    const down = Array.from({ length: 11 }, () => failing(503))
    const { bursar, sent } = clientOf([...down, page(['1'], 'b')], { retryDelayMs: 1000 })
    const reading = some(bursar.events.follow({ cursor: 'a' }), 1)
    await until(() => sent() === 1)
    for (const ms of [...waitsOfRequest, ...waitsOfRequest, 1000]) {
      await assertSentAfter(ms, sent, time)
    }
    assert.deepEqual(await reading, ['1 b'])
    const other = clientOf(down)
    const bounded = some(other.bursar.events.follow({ cursor: 'a', maxAttempts: 2 }), 1)
    const failed = assert.rejects(bounded, ServerError)
    await until(() => other.sent() === 1)
    await assertSentAfter(1, other.sent, time)
    await failed
    assert.deepEqual([other.sent(), time.waiting()], [2, 0])
  })

  test('does not give up while no token can be had', async (t) => {
    t.mock.method(Math, 'random', () => 0)
    using time = takeTime()
    const down = Array.from({ length: 6 }, () => failing(503))
    const token = () => Response.json({ access_token: 'token' })
    const { fetch, sent } = scriptedFetch([...down, token, page(['1'], 'b')])
    const credentials = { clientId: 'a', clientSecret: 'b' }
    const bursar = createBursar({ baseUrl: 'http://127.0.0.1:1', ...credentials, fetch })
    const reading = some(bursar.events.follow({ cursor: 'a' }), 1)
    await until(() => sent() === 1)
    for (const ms of [...waitsOfRequest, 1000]) await assertSentAfter(ms, sent, time)
    assert.deepEqual(await reading, ['1 b'])
  })

  test('waits as long as Retry-After says, but for an hour at most', async () => {
    for (const [seconds, waitMs] of [
      [61, 61_000],
      [3600, 3_600_000],
      [7200, 3_600_000],
    ] as const) {
      using time = takeTime()
      const limited = failing(429, { 'retry-after': `${seconds}` })
      const { bursar, sent } = clientOf([limited, page(['1'], 'b')])
      const reading = some(bursar.events.follow({ cursor: 'a' }), 1)
      await until(() => sent() === 1)
      await assertSentAfter(waitMs, sent, time)
      assert.deepEqual(await reading, ['1 b'])
    }
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
    using time = takeTime()
    const late = Promise.withResolvers<Response>()
    const quiet = page([], 'a')
    const answers = [quiet, () => late.promise, quiet, page(['1'], 'b')]
    const { bursar, sent } = clientOf(answers, { retryDelayMs: 1000 })
    const reading = some(bursar.events.follow({ cursor: 'a' }), 1)
    await until(() => sent() === 1)
    await assertSentAfter(1000, sent, time)
    await time.advance(400)
    late.resolve(await quiet())
    await assertSentAfter(600, sent, time)
    await assertSentAfter(1000, sent, time)
    await reading
  })

  test('shows hooks a wait without an event as an answer, and not as a failure', async () => {
    using time = takeTime()
    const seen: string[] = []
    const hooks = {
      onResponse: ({ status, durationMs }: ResponseInfo) =>
        void seen.push(`${status} ${durationMs}`),
      onRetry: () => assert.fail('nothing has failed'),
    }
    const idle = () =>
      new Promise<Response>((resolve) => {
        time.after(25_000, () => resolve(Response.json({ items: [], resume_cursor: 'a' })))
      })
    const { bursar, sent } = clientOf([idle, idle, page(['1'], 'b')], { hooks })
    const reading = some(bursar.events.follow({ cursor: 'a' }), 1)
    await until(() => sent() === 1)
    for (const _ of [1, 2]) await assertSentAfter(25_000, sent, time)
    assert.deepEqual(await reading, ['1 b'])
    assert.deepEqual(seen, ['200 25000', '200 25000', '200 0'])
  })

  test('gives the server the time of an answer beyond the wait', async () => {
    for (const [wait, timeoutMs, limit] of [
      [1, 100, 1100],
      [undefined, 30_000, 55_000],
      [undefined, 2 ** 31 - 1, 2 ** 31 - 1],
    ] as const) {
      using time = takeTime()
      const options = { timeoutMs, retryDelayMs: 0 }
      const { bursar, sent } = clientOf([never, page(['1'], 'b')], options)
      const reading = some(bursar.events.follow({ cursor: 'a', wait }), 1)
      await until(() => sent() === 1)
      await assertSentAfter(limit, sent, time)
      assert.deepEqual(await reading, ['1 b'])
    }
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
    abortAt: (controller: AbortController) => ScriptedOptions,
    onEvent = (_controller: AbortController) => {},
  ) => {
    using time = takeTime()
    const controller = new AbortController()
    const { bursar } = clientOf(answers, abortAt(controller))
    const read: string[] = []
    const { signal } = controller
    for await (const { event } of bursar.events.follow({ cursor: 'a', signal })) {
      read.push(event.id)
      onEvent(controller)
    }
    assert.equal(time.waiting(), 0)
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
    assert.deepEqual(await ended([failing(429, { 'retry-after': '99' })], atRequest(1)), [])
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
  test('answers a wait without an event with 200, so that no hook sees a failure', async () => {
    const { clientId, clientSecret } = await sandbox.customer()
    const controller = new AbortController()
    const seen: string[] = []
    const hooks = {
      onResponse: ({ path, status }: ResponseInfo) => {
        if (seen.push(`${path} ${status}`) === 3) controller.abort()
      },
      onRetry: () => assert.fail('nothing has failed'),
    }
    const bursar = createBursar({ baseUrl: sandbox.url, clientId, clientSecret, hooks })
    const feed = bursar.events.follow({ wait: 1, signal: controller.signal })
    for await (const { event } of feed) assert.fail(event.type)
    assert.deepEqual(seen, ['/oauth2/token 200', '/v2/events 200', '/v2/events 200'])
  })

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
