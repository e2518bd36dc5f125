import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { assertProblem, errorOf } from '../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import { startTestService, type TestService } from '../../../../test/support/harness.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { aStatement } from '../../../../test/support/records.ts'
import { until } from '../../../../test/support/until.ts'
import { takeTime } from '../../../../test/support/virtual-time.ts'

/** The long poll of `GET /ingest/v1/changes`. */

const scopes = ['ingest:write_statements', 'ingest:read_history'] as const
let operator: string
let bound: string

const service = describeService({}, async () => {
  operator = await operatorToken(service, 'warehouse', scopes)
  bound = await operatorToken(service, 'bound', scopes, 'borealis')
})

type Read = {
  readonly items: readonly { readonly customer_id: string }[]
  readonly resume_cursor: string
  readonly next_page_cursor?: string
}

async function read(query: string, token = operator): Promise<Read> {
  const { status, body, text } = await service.call(`/ingest/v1/changes?${query}`, { token })
  assert.equal(status, 200, text)
  return body
}

/** The cursor behind all that there is. */
async function endOf(token = operator): Promise<string> {
  for (let cursor = ''; ; ) {
    const page = await read(`limit=1000&page_cursor=${cursor}`, token)
    cursor = encodeURIComponent(page.resume_cursor)
    if (page.next_page_cursor === undefined) return cursor
  }
}

let amount = 0
async function put(customer: string, to: TestService = service, token = operator) {
  amount += 1
  const id = `abababab-0000-4000-8000-${String(customer.length).padStart(12, '0')}`
  const total = { asset: 'USDG', amount_paid: '0', total_amount_owed: String(amount) }
  const record = aStatement({ id, customer_id: customer, statement_balances: [total] })
  const body = JSON.stringify(record)
  const { status, text } = await to.call(`/ingest/v1/statements/${id}`, {
    method: 'PUT',
    token,
    body,
  })
  assert.ok(status < 300, text)
}

const waiting = (of: TestService = service) => of.parts.store.customers.changes.waiting()
const untilWaiting = (readers: number) => until(() => waiting() === readers)

const customersOf = ({ items }: Read) => items.map(({ customer_id: customer }) => customer)

test('a reader that waits is answered a change of any customer after its commit', async () => {
  for (const customer of ['acme', 'borealis', 'a-new-customer']) {
    const cursor = await endOf()
    const answer = read(`page_cursor=${cursor}&wait=30`)
    await untilWaiting(1)
    await put(customer)
    assert.deepEqual(customersOf(await answer), [customer])
  }
})

test('a reader that waits is answered at once where there is something', async () => {
  assert.ok((await read('wait=30')).items.length > 0)
  assert.equal(waiting(), 0)
})

test('a reader of one customer is answered its changes, and those of no other', async () => {
  const witness = read(`page_cursor=${await endOf()}&wait=30`)
  const cursor = await endOf(bound)
  const answers: Read[] = []
  const answer = read(`page_cursor=${cursor}&wait=30`, bound).then((page) => answers.push(page))
  await untilWaiting(2)
  await put('acme')
  assert.deepEqual(customersOf(await witness), ['acme'])
  assert.deepEqual(answers, [])
  await put('borealis')
  await answer
  assert.deepEqual(answers.map(customersOf), [['borealis']])
})

test('a reader that waits gets the same cursor and no change at the end of its time', async () => {
  for (const token of [operator, bound]) {
    const cursor = await endOf(token)
    using time = takeTime()
    const answers: Read[] = []
    const answer = read(`page_cursor=${cursor}&wait=2`, token).then((page) => answers.push(page))
    await untilWaiting(1)
    await time.advance(2000 * (1 - limitNamed('eventsWaitSpread')) - 1001)
    assert.equal(answers.length, 0)
    await time.advance(2000 * limitNamed('eventsWaitSpread') + 1001)
    await answer
    assert.deepEqual(answers[0]?.items, [])
    assert.equal(encodeURIComponent(answers[0]?.resume_cursor ?? ''), cursor)
  }
})

test('readers at one place that a change wakes share a read', async (t) => {
  const { operator: records } = service.parts.store
  const cursor = await endOf()
  let reads = 0
  const { changes } = records
  t.mock.method(records, 'changes', (...asked: Parameters<typeof changes>) => {
    reads += 1
    return changes(...asked)
  })
  const readers = 50
  const answers = Array.from({ length: readers }, () => read(`page_cursor=${cursor}&wait=30`))
  await untilWaiting(readers)
  const before = reads
  await put('acme')
  for (const answer of answers) assert.deepEqual(customersOf(await answer), ['acme'])
  // A late notification of an earlier change may have woken all of them once more.
  assert.ok(reads - before <= 3, `${reads - before} reads`)
})

test('a reader that leaves leaves nothing behind', async () => {
  const leaving = new AbortController()
  const left = fetch(`${service.url}/ingest/v1/changes?wait=30&page_cursor=${await endOf()}`, {
    headers: { authorization: `Bearer ${operator}` },
    signal: leaving.signal,
  })
  await untilWaiting(1)
  leaving.abort()
  await assert.rejects(left)
  await untilWaiting(0)
})

test('readers beyond the limit of a client are refused', async () => {
  const cursor = await endOf()
  const max = limitNamed('eventsWaitingPerClientMax')
  const answers = Array.from({ length: max }, () => read(`page_cursor=${cursor}&wait=30`))
  await untilWaiting(max)
  const path = `/ingest/v1/changes?page_cursor=${cursor}`
  const refused = await service.call(`${path}&wait=30`, { token: operator })
  assertProblem(refused, {
    status: 429,
    detail: '100 requests of this client wait for events; wait for their answers',
    instance: '/ingest/v1/changes',
    headers: { 'retry-after': '1' },
  })
  assert.equal((await service.call(path, { token: operator })).status, 200)
  await put('acme')
  for (const { items } of await Promise.all(answers)) assert.equal(items.length, 1)
  await untilWaiting(0)
})

test('a wait of more than 30 seconds is refused', async () => {
  const answer = await service.call('/ingest/v1/changes?wait=31', { token: operator })
  assertProblem(answer, {
    status: 400,
    detail: 'wait must be between 0 and 30',
    instance: '/ingest/v1/changes',
    meta: {
      errors: [{ ...errorOf('wait', 'must be between 0 and 30'), code: 'out_of_range' }],
    },
  })
})

test('a server that ends answers the readers that wait', async () => {
  const ending = await startTestService()
  const token = await operatorToken(ending, 'warehouse', scopes)
  const { body } = await ending.call('/ingest/v1/changes?limit=1000', { token })
  let cursor = body.resume_cursor
  for (let next = body.next_page_cursor; next !== undefined; ) {
    const page = await ending.call(`/ingest/v1/changes?page_cursor=${next}`, { token })
    ;({ next_page_cursor: next, resume_cursor: cursor } = page.body)
  }
  const path = `/ingest/v1/changes?page_cursor=${encodeURIComponent(cursor)}&wait=30`
  const answer = ending.call(path, { token })
  await until(() => waiting(ending) === 1)
  await ending.stop()
  assert.deepEqual((await answer).body.items, [])
})
