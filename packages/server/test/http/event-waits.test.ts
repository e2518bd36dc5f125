import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { StoreUnavailable } from '@bursar/records'
import { assertProblem } from '../../../../test/support/assert-answer.ts'
import { addCustomerClient } from '../../../../test/support/customer-client.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import {
  acme,
  borealis,
  startTestService,
  type TestService,
} from '../../../../test/support/harness.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { aStatement } from '../../../../test/support/records.ts'
import { until } from '../../../../test/support/until.ts'
import { passTime, takeTime } from '../../../../test/support/virtual-time.ts'
import type { CustomerEvents, EventPage } from '../../../records/src/records/events.ts'

/** The long poll of `GET /v2/events`. */

let writer: string
const writerOf = (of: TestService) =>
  operatorToken(of, 'core', ['ingest:write_statements', 'ingest:write_fiat_accounts'])
// A thousand readers and a writer have one address.
const env = { BURSAR_CONNECTIONS_PER_ADDRESS_MAX: '3000' }
const service = describeService({ env }, async () => {
  writer = await writerOf(service)
})

type Event = { readonly type: string; readonly object: { readonly id: string } }
type Read = { readonly items: readonly Event[]; readonly resume_cursor: string }

const read = async (query: string, as = acme): Promise<Read> => {
  const { status, body, text } = await service.call(`/v2/events?${query}`, { as })
  assert.equal(status, 200, text)
  return body
}

/** The cursor behind all that there is. */
const endOf = async (query = '', as = acme): Promise<string> =>
  encodeURIComponent((await read(`order=DESC&limit=1&${query}`, as)).resume_cursor)

/** The next events. On a slow machine the time of a wait may be over before there are some. */
async function next(query: string, as = acme): Promise<readonly Event[]> {
  for (;;) {
    const { items } = await read(`wait=30&${query}`, as)
    if (items.length > 0) return items
  }
}

/** The ids of the records that each answer is about. */
const idsOf = async (answers: readonly Promise<readonly Event[]>[]) =>
  (await Promise.all(answers)).map((items) => items.map(({ object }) => object.id))

const typesOf = ({ items }: Read) => items.map(({ type }) => type)

let amount = 0
const idOf = (at: number) => `bbbbbbbb-0000-4000-8000-${String(at).padStart(12, '0')}`

const put = async (
  customer = 'acme',
  id = idOf(customer.length),
  { to, token }: { readonly to: TestService; readonly token: string } = {
    to: service,
    token: writer,
  },
) => {
  amount += 1
  const total = { asset: 'USDG', amount_paid: '0', total_amount_owed: String(amount) }
  const record = aStatement({ id, customer_id: customer, statement_balances: [total] })
  const path = `/ingest/v1/statements/${id}`
  const body = JSON.stringify(record)
  const { status, text } = await to.call(path, { method: 'PUT', token, body })
  assert.ok(status === 200 || status === 201, text)
}

const untilWaiting = (readers: number, of: TestService = service) =>
  until(() => of.parts.store.customers.changes.waiting() === readers, 60_000)

/** Every page of events that the store reads from here on passes through `read`. */
function interceptPages(
  t: TestContext,
  { parts }: TestService,
  read: (page: () => Promise<EventPage>) => Promise<EventPage>,
): void {
  const { customers } = parts.store
  const open = customers.events
  t.mock.method(customers, 'events', (...asked: Parameters<typeof open>): CustomerEvents => {
    const events = open(...asked)
    return { ...events, page: (selection) => read(() => events.page(selection)) }
  })
}

/** Counts the pages that the store reads, and how many of them at once. */
function countPages(t: TestContext) {
  const counted = { pages: 0, running: 0, runningMost: 0 }
  interceptPages(t, service, async (page) => {
    counted.pages += 1
    counted.running += 1
    counted.runningMost = Math.max(counted.runningMost, counted.running)
    return page().finally(() => {
      counted.running -= 1
    })
  })
  return counted
}

describe('GET /v2/events with wait', () => {
  test('answers at once where there is something', async () => {
    await put()
    const waiting = read(`page_cursor=${await endOf()}&wait=30`)
    await untilWaiting(1)
    assert.ok((await read('wait=30')).items.length > 0)
    assert.equal(service.parts.store.customers.changes.waiting(), 1, 'the other still waits')
    await put()
    await waiting
  })

  test('answers a change of the customer after its commit', async () => {
    const cursor = await endOf()
    const answer = read(`page_cursor=${cursor}&wait=30`)
    await untilWaiting(1)
    await put()
    assert.deepEqual(typesOf(await answer), ['statement.updated'])
  })

  test('answers a change within a bound of time that lies ahead', async () => {
    const filter = 'created_at.gt=2026-01-01T00:00:00Z&created_at.lt=2090-01-01T00:00:00Z'
    const cursor = await endOf(filter)
    const answer = read(`page_cursor=${cursor}&wait=30&${filter}`)
    await untilWaiting(1)
    await put()
    assert.deepEqual(typesOf(await answer), ['statement.updated'])
  })

  test('answers the same cursor and no event at the end of its time', async () => {
    const cursor = await endOf()
    using time = takeTime()
    const answers: Read[] = []
    const answer = read(`page_cursor=${cursor}&wait=30`).then((page) => answers.push(page))
    await untilWaiting(1)
    // Readers that came together are not answered together.
    const lookMs = 1000
    await time.advance(30_000 * (1 - limitNamed('eventsWaitSpread')) - lookMs - 1)
    assert.equal(answers.length, 0)
    await time.advance(30_000 * limitNamed('eventsWaitSpread') + lookMs + 1)
    await answer
    assert.deepEqual(answers[0]?.items, [])
    assert.equal(encodeURIComponent(answers[0]?.resume_cursor ?? ''), cursor)
  })

  for (const { what, filter, of } of [
    { what: 'a change of another customer', filter: '', of: borealis },
    { what: 'changes that its filter leaves out', filter: 'type=fiat_account.created', of: acme },
  ]) {
    test(`is not answered by ${what}`, async () => {
      const cursor = await endOf(filter)
      const witness = read(`page_cursor=${await endOf('', of)}&wait=30`, of)
      const answers: Read[] = []
      const answer = read(`page_cursor=${cursor}&wait=2&${filter}`).then((page) =>
        answers.push(page),
      )
      await untilWaiting(2)
      await put(of.customerId)
      assert.equal((await witness).items.length, 1)
      assert.equal(answers.length, 0)
      passTime(2000)
      await answer
      assert.deepEqual(answers[0]?.items, [])
    })
  }

  test('leaves nothing behind when its client leaves', async () => {
    const cursor = await endOf()
    const leaving = new AbortController()
    const left = fetch(`${service.url}/v2/events?wait=30&page_cursor=${cursor}`, {
      headers: { authorization: `Bearer ${await service.tokenOf(acme)}` },
      signal: leaving.signal,
    })
    await untilWaiting(1)
    leaving.abort()
    await assert.rejects(left)
    await untilWaiting(0)
  })

  test('is refused beyond the limit of a client, and the others are answered', async () => {
    const cursor = await endOf()
    const max = limitNamed('eventsWaitingPerClientMax')
    const answers = Array.from({ length: max }, () => read(`page_cursor=${cursor}&wait=30`))
    await untilWaiting(max)
    const refused = await service.call(`/v2/events?page_cursor=${cursor}&wait=30`)
    assertProblem(refused, {
      status: 429,
      detail: '100 requests of this client wait for events; wait for their answers',
      instance: '/v2/events',
      headers: { 'retry-after': '1' },
    })
    assert.equal((await service.call(`/v2/events?page_cursor=${cursor}`)).status, 200)
    await put()
    for (const { items } of await Promise.all(answers)) assert.equal(items.length, 1)
    await untilWaiting(0)
  })
})

describe('readers that one change wakes', () => {
  const readers = limitNamed('eventsWaitingPerClientMax')

  test('share one read, if they are at one place', async (t) => {
    const counted = countPages(t)
    const cursor = await endOf()
    const answers = Array.from({ length: readers }, () => next(`page_cursor=${cursor}`))
    await untilWaiting(readers)
    const before = counted.pages
    await put()
    for (const ids of await idsOf(answers)) assert.deepEqual(ids, [idOf('acme'.length)])
    const pages = counted.pages - before
    // A late notification of an earlier change may have woken all of them once more.
    assert.ok(pages <= 3, `${pages} reads`)
  })

  test('read in turns over a part of the sessions, if they are at different places', async (t) => {
    const counted = countPages(t)
    const cursor = await endOf()
    const answers = Array.from({ length: readers }, (_, at) =>
      next(`page_cursor=${cursor}&limit=${at + 1}`),
    )
    await untilWaiting(readers)
    await put()
    for (const ids of await idsOf(answers)) assert.deepEqual(ids, [idOf('acme'.length)])
    assert.ok(counted.pages >= 2 * readers)
    assert.ok(counted.runningMost <= 3, `${counted.runningMost} reads at once`)
  })

  test('get the change of their own customer, a thousand readers of ten customers', async (t) => {
    const counted = countPages(t)
    const added = Array.from({ length: 8 }, (_, at) => ({
      customerId: `reader-${at}`,
      clientId: `reader_${at}`,
      clientSecret: `secret_of_reader_${at}`,
    }))
    for (const customer of added) await addCustomerClient(service, customer)
    const all = await Promise.all(
      [acme, borealis, ...added].map(async (as, at) => {
        const cursor = await endOf('', as)
        const answers = Array.from({ length: readers }, () => next(`page_cursor=${cursor}`, as))
        return { as, id: idOf(1000 + at), answers }
      }),
    )
    await untilWaiting(all.length * readers)
    const before = counted.pages
    await Promise.all(all.map(({ as, id }) => put(as.customerId, id)))
    for (const { id, answers } of all) {
      for (const ids of await idsOf(answers)) assert.deepEqual(ids, [id])
    }
    const pages = counted.pages - before
    assert.ok(pages <= 5 * all.length, `${pages} reads`)
  })

  test('get 503 if the store is not available', async (t) => {
    let isDown = false
    interceptPages(t, service, (page) =>
      isDown ? Promise.reject(new StoreUnavailable('no primary')) : page(),
    )
    const cursor = await endOf()
    const answers = Array.from({ length: 3 }, () =>
      service.call(`/v2/events?wait=30&page_cursor=${cursor}`),
    )
    await untilWaiting(3)
    isDown = true
    await put()
    for (const { status } of await Promise.all(answers)) assert.equal(status, 503)
  })
})

test('a server that ends answers the requests that wait for their turn to read', async (t) => {
  const ending = await startTestService()
  const held = Promise.withResolvers<void>()
  try {
    const token = await writerOf(ending)
    let isHolding = false
    let reading = 0
    interceptPages(t, ending, async (page) => {
      reading += 1
      if (isHolding) await held.promise
      return page()
    })
    const { body } = await ending.call('/v2/events?order=DESC&limit=1')
    const cursor = encodeURIComponent(body.resume_cursor)
    const answers = Array.from({ length: 4 }, (_, at) =>
      ending.call(`/v2/events?page_cursor=${cursor}&wait=30&limit=${at + 1}`),
    )
    await untilWaiting(4, ending)
    isHolding = true
    reading = 0
    await put('acme', idOf(1), { to: ending, token })
    // Three reads are under way, so the fourth has no turn.
    await until(() => reading === 3)
    const stopped = ending.stop()
    const first = await Promise.race(answers)
    assert.deepEqual(first.body, { items: [], resume_cursor: body.resume_cursor })
    held.resolve()
    const found = (await Promise.all(answers)).map((answer) => answer.body.items.length)
    assert.deepEqual(found.toSorted(), [0, 1, 1, 1])
    await stopped
  } catch (failure) {
    held.resolve()
    await ending.stop()
    throw failure
  }
})

test('a server that ends answers the requests that wait', async () => {
  const ending = await startTestService()
  const { body } = await ending.call('/v2/events?order=DESC&limit=1')
  const cursor = encodeURIComponent(body.resume_cursor)
  const answer = ending.call(`/v2/events?page_cursor=${cursor}&wait=30`)
  await until(() => ending.parts.store.customers.changes.waiting() === 1)
  await ending.stop()
  assert.deepEqual((await answer).body.items, [])
})
