import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertProblem, errorOf } from '../../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../../test/support/describe-service.ts'
import { operatorToken } from '../../../../../test/support/operator-token.ts'
import { aStatement } from '../../../../../test/support/records.ts'

const scopes = ['ingest:write_statements', 'ingest:read_history'] as const
let operator: string
let bound: string

const service = describeService({}, async () => {
  operator = await operatorToken(service, 'warehouse', scopes)
  bound = await operatorToken(service, 'bound', scopes, 'borealis')
})

const read = (query = '', token = operator) =>
  service.call(`/ingest/v1/changes?${query}`, { token })

const cursorOf = ({ body }: Awaited<ReturnType<typeof read>>): string =>
  `page_cursor=${encodeURIComponent(body.resume_cursor)}`

/** Reads from a place to the end, in pages of a size. */
async function readAll(start = '', limit = 1000, token = operator) {
  const items: { customer_id: string; id: string; type: string; object: { id: string } }[] = []
  let cursor = start
  for (;;) {
    const page = await read(`limit=${limit}&${cursor}`, token)
    assert.equal(page.status, 200, page.text)
    items.push(...page.body.items)
    cursor = cursorOf(page)
    if (page.body.next_page_cursor === undefined) return { items, cursor }
    assert.equal(page.body.next_page_cursor, page.body.resume_cursor)
  }
}

let amount = 0
async function put(customer: string, at: number) {
  amount += 1
  const id = `cccccccc-0000-4000-8000-${String(at).padStart(12, '0')}`
  const total = { asset: 'USDG', amount_paid: '0', total_amount_owed: String(amount) }
  const record = aStatement({ id, customer_id: customer, statement_balances: [total] })
  const path = `/ingest/v1/statements/${id}`
  const body = JSON.stringify(record)
  const { status, text } = await service.call(path, { method: 'PUT', token: operator, body })
  assert.ok(status < 300, text)
}

test('shows the events of every customer, those of each as the customer sees them', async () => {
  const { items } = await readAll()
  const { body } = await service.call('/v2/events')
  const ofAcme = items.filter(({ customer_id: customer }) => customer === 'acme')
  assert.deepEqual(
    ofAcme.slice(0, body.items.length).map(({ customer_id: _, ...event }) => event),
    body.items,
  )
  assert.ok(items.some(({ customer_id: customer }) => customer === 'borealis'))
})

test('goes on from resume_cursor with what was stored since, and shows the same text at the end', async () => {
  const { cursor } = await readAll()
  const atEnd = await read(cursor)
  assert.deepEqual([atEnd.body.items, cursorOf(atEnd)], [[], cursor])
  await put('acme', 1)
  await put('borealis', 2)
  await put('acme', 1)
  for (const limit of [1, 2, 1000]) {
    const { items } = await readAll(cursor, limit)
    assert.deepEqual(
      items.map(({ customer_id: customer, type }) => `${customer} ${type}`).toSorted(),
      ['acme statement.created', 'acme statement.updated', 'borealis statement.created'],
    )
  }
})

test('a bound client sees its customer, and no cursor of the others', async () => {
  await put('borealis', 3)
  const { items, cursor } = await readAll('', 2, bound)
  assert.deepEqual([...new Set(items.map(({ customer_id: customer }) => customer))], ['borealis'])
  const ofAll = (await readAll()).items.filter(
    ({ customer_id: customer }) => customer === 'borealis',
  )
  assert.deepEqual(items, ofAll)
  const foreign = await read(cursor)
  assertProblem(foreign, {
    status: 400,
    detail: 'page_cursor token cannot be parsed',
    instance: '/ingest/v1/changes',
    meta: { errors: [{ ...errorOf('page_cursor', 'token cannot be parsed'), code: 'malformed' }] },
  })
})

test('requires the scope ingest:read_history', async () => {
  const token = await operatorToken(service, 'writer', ['ingest:write_statements'])
  assert.equal((await read('', token)).status, 403)
})
