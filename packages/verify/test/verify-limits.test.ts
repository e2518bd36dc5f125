import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turn } from '../../../test/support/until.ts'
import { takeTime, type VirtualTime } from '../../../test/support/virtual-time.ts'
import { type Fetch, openSend } from '../src/client/exchange.ts'
import { type Feed, readFeed } from '../src/client/feed.ts'
import { type Pages, readPages } from '../src/client/pages.ts'
import type { List } from '../src/contract.ts'
import { verifyLimits } from '../src/verify-limits.ts'
import { type VerifyOptions, verifyTarget } from '../src/verify-target.ts'
import { type Behind, fetchOf } from './support/wrong-server.ts'
import { json, problem } from './support/wrong-servers/mutations.ts'

/** What bounds a run against a server that answers without end, or not at all. */

function verifyWith(answer: Behind, over: Partial<VerifyOptions>) {
  const url = 'http://wrong.example'
  return verifyTarget({
    target: url,
    tokenUrl: `${url}/oauth2/token`,
    client: { id: 'a_client', secret: 'its_secret' },
    customer: 'a_customer',
    allowFees: false,
    fetch: fetchOf(answer),
    ...over,
  })
}

const token = { access_token: 'opaque', token_type: 'bearer', expires_in: 60 }

/** Has a list of addresses without end. Each page has as many records as were wanted. */
const endless = (requests: string[], last = ''): Behind => {
  const newest = Date.parse('2026-10-31T00:00:00Z')
  return async (asked) => {
    if (asked.url.pathname === '/oauth2/token') return { ...problem(200, asked), ...json(token) }
    requests.push(asked.url.search)
    if (!asked.url.pathname.endsWith('/deposit-addresses')) return problem(404, asked)
    const limit = Number(asked.url.searchParams.get('limit') ?? 100)
    const from = Number(asked.url.searchParams.get('page_cursor') ?? 0)
    const items = Array.from({ length: limit }, (_, at) => ({
      id: `00000000-0000-4000-8000-${String(from + at).padStart(12, '0')}`,
      profile_id: 'p',
      customer_id: from + at === 4_500 ? `a_customer${last}` : 'a_customer',
      crypto_network: 'STELLAR',
      address: `address ${from + at}`,
      conversion_target_asset: 'USD',
      compatible_crypto_networks: ['STELLAR'],
      created_at: new Date(newest - (from + at) * 1000).toISOString().replace('.000', ''),
    }))
    const next_page_cursor = String(from + limit)
    return { ...problem(200, asked), ...json({ items, next_page_cursor }) }
  }
}

test('a question about every record reads five pages, and says where it stopped', async () => {
  const requests: string[] = []
  const results = await verifyWith(endless(requests), { only: ['values.enums'] })
  assert.deepEqual(
    results.map(({ id, verdict }) => [id, verdict]),
    [['values.enums', 'held']],
  )
  const note = 'deposit addresses: read no further than 5 pages: 5000 records'
  assert.ok(results[0]?.notes.includes(note), JSON.stringify(results))
  const pages = requests.filter((query) => /limit=1000/.test(query) && query.includes('cursor'))
  assert.deepEqual(
    pages,
    [1000, 2000, 3000, 4000].map((from) => `?limit=1000&page_cursor=${from}`),
  )
})

test('a fault behind the first thousand records is found, and its record is shown', async () => {
  const results = await verifyWith(endless([], '_of_others'), { only: ['isolation.own-customer'] })
  const [result] = results
  assert.equal(result?.verdict, 'broken')
  const id = '00000000-0000-4000-8000-000000004500'
  assert.equal(result?.faults[0]?.says, `the record ${id} names another customer`)
  const shown = `200 … {"id":"${id}","profile_id":"p","customer_id":"a_customer_of_others"`
  assert.ok(result?.faults[0]?.answer.startsWith(shown), result?.faults[0]?.answer)
})

/** Breaks every connection to the lists. */
const breaksOff =
  (requests: string[]): Behind =>
  async (asked) => {
    if (asked.url.pathname === '/oauth2/token') return { ...problem(200, asked), ...json(token) }
    requests.push(asked.url.pathname)
    throw new TypeError('terminated', {
      cause: Object.assign(new Error(), { code: 'UND_ERR_SOCKET' }),
    })
  }

test('a path that fails is requested three times, and is one finding', async () => {
  const requests: string[] = []
  const results = await verifyWith(breaksOff(requests), { only: ['parameters', 'paging'] })
  const broken = results.filter(({ verdict }) => verdict === 'broken')
  assert.deepEqual(
    broken.map(({ id }) => id),
    ['answers.complete'],
  )
  assert.match(
    broken[0]?.faults[0]?.says ?? '',
    /^the connection broke off \(UND_ERR_SOCKET\) \(\d+ of \d+ requests\)$/,
  )
  for (const [path, of] of Map.groupBy(requests, (path) => path)) assert.equal(of.length, 3, path)
})

/** Gives a token, and no answer to anything else. */
const silent: Behind = async (asked) =>
  asked.url.pathname === '/oauth2/token'
    ? { ...problem(200, asked), ...json(token) }
    : new Promise(() => {})

/** `fetch`, which gives up with its signal. */
const abortable =
  (answer: Behind): Fetch =>
  async (url, init) => {
    const aborted = new Promise<never>((_, reject) =>
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
    )
    return Promise.race([fetchOf(answer)(url, init), aborted])
  }

/** Lets a time pass, and shows whether the run has ended by then. */
async function after<T>(time: VirtualTime, run: Promise<T>, ms: number): Promise<T | undefined> {
  await time.advance(ms)
  return await Promise.race([run, turn().then(() => undefined)])
}

test('a request that gets no answer in time is one finding', async () => {
  using time = takeTime()
  const run = verifyWith(silent, { fetch: abortable(silent), only: ['authorization.challenge'] })
  assert.equal(await after(time, run, verifyLimits.timeoutMs - 1), undefined)
  const results = await after(time, run, 1)
  assert.deepEqual(
    results?.map(({ id, verdict, notes, faults }) => ({ id, verdict, notes, faults })),
    [
      {
        id: 'authorization.challenge',
        verdict: 'not testable',
        notes: ['no answer came within 10 s'],
        faults: [],
      },
      {
        id: 'answers.complete',
        verdict: 'broken',
        notes: [],
        faults: [
          {
            says: 'no answer came within 10 s (1 of 2 requests)',
            source: 'extra',
            cited: 'docs/integrating.md, “Timeouts”',
            request: 'GET http://wrong.example/v2/transfer/fiat-accounts (without a token)',
            answer: 'none',
          },
        ],
      },
    ],
  )
  assert.equal(time.waiting(), 0, 'a deadline has not ended with its work')
})

test('what is left when the time for the run is over is not testable', async () => {
  using time = takeTime()
  let requests = 0
  const slow: Behind = async (asked) => {
    if (asked.url.pathname === '/oauth2/token') return { ...problem(200, asked), ...json(token) }
    requests += 1
    await time.pause(verifyLimits.timeoutMs - 1)
    return problem(404, asked)
  }
  const run = verifyWith(slow, { fetch: abortable(slow) })
  assert.equal(await after(time, run, verifyLimits.runMs - 1), undefined)
  const before = requests
  const results = (await after(time, run, 1)) ?? []
  assert.equal(requests, before)
  const late = results.filter(({ notes }) => notes.includes('the time for the run is over'))
  assert.ok(late.length > 10 && late.every(({ verdict }) => verdict === 'not testable'))
})

test('a client that is limited waits as the server says, three times at most', async () => {
  using time = takeTime()
  let wait = verifyLimits.retryAfterSecondsMax
  let requests = 0
  const send = openSend({
    fetch: async () => {
      requests += 1
      return new Response('{}', { status: 429, headers: { 'retry-after': `${wait}` } })
    },
    run: new AbortController().signal,
    observe: () => {},
  })
  const limited = assert.rejects(send('http://wrong.example/'), /limits the requests of this/)
  for (let sent = 1; sent <= verifyLimits.retriesMax; sent += 1) {
    await time.advance(wait * 1000 - 1)
    assert.equal(requests, sent)
    await time.advance(1)
  }
  await limited
  assert.deepEqual([requests, time.waiting()], [verifyLimits.retriesMax + 1, 0])
  wait += 1
  await assert.rejects(send('http://wrong.example/'), /limits the requests of this/)
  assert.equal(requests, verifyLimits.retriesMax + 2, 'a longer wait is no use')
})

test('a walk through a list or the feed stops at the page that it reads after its time', async () => {
  using time = takeTime()
  const read = async () => {
    await time.pause(verifyLimits.walkMs / 3)
    const body = { items: [{ id: 'one' }, { id: 'two' }], next_page_cursor: 'more' }
    return { request: '', status: 200, headers: new Headers(), text: '', body }
  }
  const session = {
    needScope: () => {},
    call: read,
    items: async () => ({ exchange: await read(), items: [{}, {}], isWhole: false }),
  }
  for (const begin of [
    () => readPages(session, {} as List, {}, verifyLimits.pagesMax),
    () => readFeed(session, {}),
  ]) {
    const walk: Promise<Pages | Feed> = begin()
    assert.equal(await after(time, walk, verifyLimits.walkMs - 1), undefined)
    const { isWhole, pages, ...rest } = (await after(time, walk, 1)) ?? assert.fail('it goes on')
    assert.deepEqual([isWhole, pages.length], [false, 3])
    if ('stopped' in rest) assert.match(String(rest.stopped), / than 3 pages and 30 s: 6 records$/)
    assert.equal(time.waiting(), 0, 'a deadline has not ended with its work')
  }
})
