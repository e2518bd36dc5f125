import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import {
  type AttemptInfo,
  BursarError,
  ConnectionError,
  createBursar,
  RateLimitError,
  type ResponseInfo,
  type RetryInfo,
  ServerError,
} from '../../sdk/src/index.ts'
import { withdrawal } from '../support/operation-calls.ts'
import {
  assertSentAfter,
  failing,
  never,
  type Scripted,
  type ScriptedOptions,
  scriptedClient,
  scriptedFetch,
  token,
} from '../support/scripted-client.ts'
import { settlesAfter } from '../support/settles-after.ts'
import { until } from '../support/until.ts'
import { takeTime, type VirtualTime } from '../support/virtual-time.ts'

const id = '11111111-1111-4111-8111-111111111111'
const record = () => Response.json({ id })
/** A client whose requests are answered in turn, and then with a record. */
const clientOf = (answers: readonly Scripted[], options?: ScriptedOptions) =>
  scriptedClient([...answers, record], options)
const page = (ids: readonly number[], next?: string) => () =>
  Response.json({ items: ids.map((at) => ({ id: `${at}` })), next_page_cursor: next })

describe('the table of docs/integrating.md', () => {
  const guide = readFileSync('docs/integrating.md', 'utf8')
  const [table = ''] = guide.split('\n## Retries\n')[1]?.split('\n## ') ?? []
  const rows = [...table.matchAll(/^\| ([\d, ]+?) +\| (.*?) +\| (.*?) +\|$/gm)].flatMap(
    ([, statuses = '', read = '', fee = '']) =>
      statuses.split(', ').map((status) => ({ status: Number(status), read, fee })),
  )

  test('names every status, and the client repeats what it says and nothing else', async () => {
    assert.ok(rows.length >= 17, `${rows.length}`)
    for (const { status, read, fee } of rows.filter((row) => row.status !== 401)) {
      const attempts = (what: string) => (what === 'repeat' ? 3 : 1)
      const failures = [failing(status), failing(status)]
      const reading = clientOf(failures)
      await reading.bursar.fiatAccounts.get(id).catch(() => {})
      assert.equal(reading.sent(), attempts(read), `read after ${status}`)
      const quoting = clientOf(failures)
      await quoting.bursar.cryptoWithdrawalFees.create(withdrawal).catch(() => {})
      assert.equal(quoting.sent(), attempts(fee), `fee after ${status}`)
    }
  })
})

describe('a call has its own options', () => {
  test('for its attempts', async () => {
    const { bursar, sent } = clientOf(Array(9).fill(failing(503)))
    await assert.rejects(bursar.fiatAccounts.get(id, { maxAttempts: 2 }), ServerError)
    assert.equal(sent(), 2)
    const list = bursar.fiatAccounts.list({}, { maxAttempts: 1 })
    await assert.rejects(list.toArray({ max: 1 }), ServerError)
    assert.equal(sent(), 3)
  })

  test('for its time, which is 30 s by default', async () => {
    for (const [timeoutMs, limit] of [[undefined, 30_000] as const, [5000, 5000] as const]) {
      using time = takeTime()
      const { bursar, sent } = clientOf([never])
      const quoting = bursar.cryptoWithdrawalFees.create(withdrawal, { timeoutMs })
      await until(() => sent() === 1)
      await assert.rejects(settlesAfter(time, limit, quoting), (error) => {
        assert.ok(error instanceof ConnectionError)
        assert.equal(error.detail, `the server did not answer within ${limit} ms`)
        return true
      })
      assert.equal(time.waiting(), 0)
    }
  })

  test('but not for the request of a token, which serves other calls too', async () => {
    using time = takeTime()
    const granted = () => Response.json({ access_token: token })
    const { fetch, sent } = scriptedFetch([never, granted, record])
    const credentials = { clientId: 'a', clientSecret: 'b', retryDelayMs: 0 }
    const bursar = createBursar({ baseUrl: 'http://127.0.0.1:1', ...credentials, fetch })
    const reading = bursar.fiatAccounts.get(id, { timeoutMs: 5, maxAttempts: 1 })
    await until(() => sent() === 1)
    await assertSentAfter(30_000, sent, time)
    assert.equal((await reading).id, id)
  })

  test('which are refused if a timer or a loop cannot take them', async () => {
    const { bursar, sent } = clientOf([])
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
      const message = /^timeoutMs must be a number from 1 to 2147483647$/
      await assert.rejects(bursar.fiatAccounts.get(id, { timeoutMs }), { message })
      assert.throws(() => clientOf([], { timeoutMs }), { name: 'TypeError', message })
    }
    assert.throws(() => clientOf([], { maxAttempts: 0 }), TypeError)
    assert.equal(sent(), 0)
  })
})

describe('the wait before another attempt', () => {
  const limited = (retryAfter: string | number) => failing(429, { 'retry-after': `${retryAfter}` })
  const aheadOf = (time: VirtualTime, seconds: number) =>
    new Date(Number(time.now() / 1000n) + seconds * 1000).toUTCString()

  /** Reads through failures, and asserts each wait. */
  async function assertWaits(
    time: VirtualTime,
    answers: readonly Scripted[],
    waits: readonly number[],
    retryDelayMs = 1000,
  ) {
    const announced: number[] = []
    const hooks = { onRetry: ({ delayMs }: RetryInfo) => void announced.push(delayMs) }
    const { bursar, sent } = clientOf(answers, { hooks, retryDelayMs })
    const reading = bursar.fiatAccounts.get(id)
    for (const [at, ms] of waits.entries()) {
      await until(() => announced.length === at + 1)
      await assertSentAfter(ms, sent, time)
    }
    assert.equal((await reading).id, id)
    assert.deepEqual([announced, time.waiting()], [waits, 0])
  }

  test('doubles, and has jitter of up to the first', async (t) => {
    for (const jitter of [0, 0.5]) {
      t.mock.method(Math, 'random', () => jitter)
      using time = takeTime()
      const waits = [1, 2, 4, 8].map((seconds) => (seconds + jitter) * 1000)
      await assertWaits(time, Array(4).fill(failing(503)), waits)
    }
  })

  test('is at most the longest time of a timer, which would else end at once', async () => {
    using time = takeTime()
    const longest = 2 ** 31 - 1
    await assertWaits(time, [failing(503), failing(503)], [longest, longest], longest)
  })

  test('is that of Retry-After, in seconds or until a date, and has jitter too', async (t) => {
    t.mock.method(Math, 'random', () => 0.25)
    using time = takeTime()
    // A date has whole seconds.
    time.jump(-(time.now() % 1_000_000n))
    const [future, past] = [aheadOf(time, 40), aheadOf(time, -40)]
    await assertWaits(time, [limited(future), limited(7)], [40_250, 7250])
    await assertWaits(time, [limited(past), limited(60)], [250, 60_250])
  })

  test('is not begun if Retry-After is more than a minute', async () => {
    using time = takeTime()
    time.jump(-(time.now() % 1_000_000n))
    for (const retryAfter of ['61', aheadOf(time, 61)]) {
      const { bursar, sent } = clientOf([limited(retryAfter)])
      await assert.rejects(bursar.fiatAccounts.get(id), (error) => {
        assert.ok(error instanceof RateLimitError)
        assert.equal(error.retryAfterSeconds, 61)
        return true
      })
      assert.equal(sent(), 1)
    }
  })

  test('ends at once with its signal', async () => {
    using time = takeTime()
    const controller = new AbortController()
    const hooks = { onRetry: () => setImmediate(() => controller.abort(new Error('enough'))) }
    const { bursar, sent } = clientOf([limited(30)], { hooks })
    const reading = bursar.fiatAccounts.get(id, { signal: controller.signal })
    await assert.rejects(reading, /enough/)
    assert.deepEqual([sent(), time.waiting()], [1, 0])
  })
})

describe('an answer', () => {
  const headers = { 'x-request-id': 'r-1', 'ratelimit-remaining': '4' }
  const answered = () => Response.json({ id }, { headers })

  test('gives its status, headers and request id beside its data', async () => {
    for (const read of ['get', 'create'] as const) {
      const { bursar, sent } = clientOf([answered])
      const { data, status, requestId, ...rest } = await (read === 'get'
        ? bursar.fiatDepositInstructions.get(id).withResponse()
        : bursar.cryptoWithdrawalFees.create(withdrawal).withResponse())
      assert.deepEqual([data.id, status, requestId], [id, 200, 'r-1'])
      assert.equal(rest.headers.get('ratelimit-remaining'), '4')
      assert.equal(sent(), 1)
    }
  })

  test('rejects only the promise that is awaited', async () => {
    const { bursar } = clientOf([failing(404), failing(404)])
    // A rejection that nobody handles would fail this test's process.
    await assert.rejects(bursar.fiatAccounts.get(id).withResponse(), { status: 404 })
    await assert.rejects(bursar.fiatAccounts.get(id), { status: 404 })
    await new Promise((resolve) => setImmediate(resolve))
  })

  test('of a page has its headers too', async () => {
    const { bursar } = clientOf([() => Response.json({ items: [] }, { headers })])
    for await (const page of bursar.fiatAccounts.list().pages()) {
      assert.deepEqual([page.requestId, page.headers.get('ratelimit-remaining')], ['r-1', '4'])
    }
  })
})

describe('toArray', () => {
  const pages = [page([1, 2], 'a'), page([3, 4], 'b'), page([5])]

  test('gives every record of every page', async () => {
    for (const max of [5, 6, 1000]) {
      const { bursar, sent } = clientOf(pages)
      const read = await bursar.fiatAccounts.list().toArray({ max })
      assert.deepEqual([read.map((each) => each.id), sent()], [['1', '2', '3', '4', '5'], 3])
    }
  })

  test('rejects a longer list instead of cutting it, and reads no further page', async () => {
    for (const [max, sentMax] of [
      [1, 1],
      [3, 2],
      [4, 3],
    ] as const) {
      const { bursar, sent } = clientOf(pages)
      await assert.rejects(bursar.fiatAccounts.list().toArray({ max }), (error) => {
        assert.ok(error instanceof BursarError)
        assert.match(error.detail, new RegExp(`^the list has more than ${max} records; `))
        return true
      })
      assert.equal(sent(), sentMax, `${max}`)
    }
  })

  test('must have a bound', async () => {
    const { bursar, sent } = clientOf(pages)
    for (const max of [0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, JSON.parse('"5"')]) {
      await assert.rejects(bursar.fiatAccounts.list().toArray({ max }), TypeError, `${max}`)
    }
    assert.equal(sent(), 0)
  })
})

describe('hooks', () => {
  test('see each attempt, answer and wait, and never the token or the query', async (t) => {
    const seen: unknown[] = []
    const note = (what: string) => (info: AttemptInfo | ResponseInfo | RetryInfo) => {
      const { method, path, attempt } = info
      seen.push([what, method, path, attempt, 'status' in info && info.status])
      const shown = inspect(info, { depth: 9, showHidden: true })
      assert.ok(!shown.includes(token) && !shown.includes('secret-ref'), shown)
    }
    const hooks = {
      onRequest: note('request'),
      onResponse: note('response'),
      onRetry: note('retry'),
    }
    t.mock.method(Math, 'random', () => 0)
    using time = takeTime()
    const answers = [failing(503), never, failing(401), page([1])]
    const { bursar, sent } = clientOf(answers, { hooks, retryDelayMs: 1 })
    const reading = bursar.fiatAccounts.list({ ref_ids: ['secret-ref'] }).toArray({ max: 1 })
    await until(() => seen.length === 3)
    await assertSentAfter(1, sent, time)
    await time.advance(30_000)
    await assertSentAfter(2, sent, time)
    await reading
    const path = '/v2/transfer/fiat-accounts'
    assert.deepEqual(seen, [
      ['request', 'GET', path, 1, false],
      ['response', 'GET', path, 1, 503],
      ['retry', 'GET', path, 1, false],
      ['request', 'GET', path, 2, false],
      ['retry', 'GET', path, 2, false],
      ['request', 'GET', path, 3, false],
      ['response', 'GET', path, 3, 401],
      ['retry', 'GET', path, 3, false],
      ['request', 'GET', path, 4, false],
      ['response', 'GET', path, 4, 200],
    ])
  })

  test('see how long an attempt took, whatever the wall clock does meanwhile', async () => {
    using time = takeTime()
    const late = Promise.withResolvers<Response>()
    let took: number | undefined
    const onResponse = ({ durationMs }: ResponseInfo) => {
      took = durationMs
    }
    const { bursar, sent } = clientOf([() => late.promise], { hooks: { onResponse } })
    const reading = bursar.fiatAccounts.get(id)
    await until(() => sent() === 1)
    time.jump(-3_600_000_000n)
    await time.advance(1234)
    late.resolve(record())
    await reading
    assert.equal(took, 1234)
  })

  test('see the requests for tokens, without their secrets', async () => {
    const paths: string[] = []
    const bursar = createBursar({
      baseUrl: 'http://127.0.0.1:1',
      clientId: 'a',
      clientSecret: 'the-secret',
      fetch: async (url) =>
        url.endsWith('/oauth2/token')
          ? Response.json({ access_token: token, expires_in: 900 })
          : Response.json({ id }),
      hooks: {
        onRequest: (info) => void paths.push(`${info.method} ${info.path}`),
        onResponse: (info) => assert.ok(!inspect(info, { depth: 9 }).includes(token)),
      },
    })
    await bursar.fiatAccounts.get(id)
    assert.deepEqual(paths, ['POST /oauth2/token', `GET /v2/transfer/fiat-accounts/${id}`])
  })

  test('fail their call with what they throw, and it is not repeated', async () => {
    const mistake = new Error('a hook is wrong')
    const onRequest = () => {
      throw mistake
    }
    for (const [hooks, count] of [
      [{ onRequest }, 0],
      [{ onResponse: onRequest }, 1],
    ] as const) {
      const { bursar, sent } = clientOf([], { hooks })
      await assert.rejects(bursar.fiatAccounts.get(id), (error) => error === mistake)
      assert.equal(sent(), count)
    }
  })
})
