import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '../../src/platform/limits.ts'
import { assertProblem } from '../support/assert-answer.ts'
import { describeService } from '../support/describe-service.ts'
import { acme, startTestService } from '../support/harness.ts'
import { operatorToken } from '../support/operator-token.ts'
import { aStatement } from '../support/records.ts'
import { until } from '../support/until.ts'

/** The long poll of `GET /v2/events`. */

let writer: string
const service = describeService({}, async () => {
  const scopes = ['ingest:write_statements', 'ingest:write_fiat_accounts'] as const
  writer = await operatorToken(service, 'core', scopes)
})

type Read = { readonly items: readonly { type: string }[]; readonly resume_cursor: string }

const read = async (query: string): Promise<Read> => {
  const { status, body, text } = await service.call(`/v2/events?${query}`)
  assert.equal(status, 200, text)
  return body
}

/** The cursor behind all that there is. */
const endOf = async (query = ''): Promise<string> =>
  encodeURIComponent((await read(`order=DESC&limit=1&${query}`)).resume_cursor)

const typesOf = ({ items }: Read) => items.map(({ type }) => type)

let amount = 0
const idOf = (at: number) => `bbbbbbbb-0000-4000-8000-${String(at).padStart(12, '0')}`

const put = async (customer = 'acme', id = idOf(customer.length)) => {
  amount += 1
  const total = { asset: 'USDG', amount_paid: '0', total_amount_owed: String(amount) }
  const record = aStatement({ id, customer_id: customer, statement_balances: [total] })
  const path = `/ingest/v1/statements/${id}`
  const body = JSON.stringify(record)
  const { status, text } = await service.call(path, { method: 'PUT', token: writer, body })
  assert.ok(status === 200 || status === 201, text)
}

const untilWaiting = (readers: number) =>
  until(() => service.parts.store.customers.changes.waiting() === readers)

describe('GET /v2/events with wait', () => {
  test('answers at once where there is something', async () => {
    await put()
    const begunAt = performance.now()
    assert.ok((await read('wait=30')).items.length > 0)
    assert.ok(performance.now() - begunAt < 5000)
  })

  test('answers a change of the customer soon after its commit', async () => {
    const cursor = await endOf()
    const answer = read(`page_cursor=${cursor}&wait=30`)
    await untilWaiting(1)
    const begunAt = performance.now()
    await put()
    assert.deepEqual(typesOf(await answer), ['statement.updated'])
    assert.ok(performance.now() - begunAt < 5000)
  })

  test('answers a change within a bound of time that lies ahead', async () => {
    const filter = 'created_at.gt=2026-01-01T00:00:00Z&created_at.lt=2090-01-01T00:00:00Z'
    const cursor = await endOf(filter)
    const answer = read(`page_cursor=${cursor}&wait=30&${filter}`)
    await untilWaiting(1)
    await put()
    assert.deepEqual(typesOf(await answer), ['statement.updated'])
  })

  test('answers the same cursor and no event before its time is over', async (t) => {
    // Chance ends a wait up to a fifth early. So the bound does not depend on the machine's pace.
    t.mock.method(Math, 'random', () => 1)
    const cursor = await endOf()
    const begunAt = performance.now()
    const { items, resume_cursor: resumed } = await read(`page_cursor=${cursor}&wait=3`)
    const tookMs = performance.now() - begunAt
    assert.deepEqual(items, [])
    assert.equal(encodeURIComponent(resumed), cursor)
    assert.ok(tookMs > 2000 && tookMs <= 3000, `${tookMs} ms`)
  })

  test('is not answered by a change of another customer', async () => {
    const cursor = await endOf()
    const answer = read(`page_cursor=${cursor}&wait=2`)
    await untilWaiting(1)
    await put('borealis')
    assert.deepEqual((await answer).items, [])
  })

  test('goes on waiting after changes that its filter leaves out', async () => {
    const filter = 'type=fiat_account.created'
    const cursor = await endOf(filter)
    const answer = read(`page_cursor=${cursor}&wait=2&${filter}`)
    await untilWaiting(1)
    await put()
    assert.deepEqual((await answer).items, [])
  })

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
    const max = limits.eventsWaitingPerClientMax
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

test('a server that ends answers the requests that wait', async () => {
  const ending = await startTestService()
  const { body } = await ending.call('/v2/events?order=DESC&limit=1')
  const cursor = encodeURIComponent(body.resume_cursor)
  const answer = ending.call(`/v2/events?page_cursor=${cursor}&wait=30`)
  await until(() => ending.parts.store.customers.changes.waiting() === 1)
  const begunAt = performance.now()
  await ending.stop()
  assert.deepEqual((await answer).body.items, [])
  assert.ok(performance.now() - begunAt < 5000)
})
