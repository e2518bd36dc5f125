import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseInstant } from '@bursar/base'
import { asTenant, eventKinds } from '@bursar/contract'
import { assertProblem } from '../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, borealis, type Called } from '../../../../test/support/harness.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { aFiatAccount, aStatement } from '../../../../test/support/records.ts'
import { setLimits } from '../../../../test/support/set-limits.ts'
import { eventId } from '../../src/works/events/event-id.ts'

/** `GET /v2/events`, `GET /v2/events/{id}`, and the reads with `as_of` to which they lead. */

let writer: string
const service = describeService({}, async () => {
  const scopes = ['ingest:write_statements', 'ingest:write_fiat_accounts'] as const
  writer = await operatorToken(service, 'core', scopes)
  await write()
})

const account = 'dddddddd-0000-4000-8000-000000000001'
const statement = 'dddddddd-0000-4000-8000-000000000002'
/** The cursor behind what the sandbox came with. */
let start = ''
/** What was sent for each event after that. */
const expected = [
  'fiat_account.created',
  'statement.created',
  'fiat_account.updated',
  'statement.updated',
  'fiat_account.deleted',
  'fiat_account.created',
] as const

async function send(kind: string, id: string, record?: object): Promise<void> {
  const { status, text } = await service.call(`/ingest/v1/${kind}/${id}`, {
    token: writer,
    ...(record === undefined
      ? { method: 'DELETE' }
      : { method: 'PUT', body: JSON.stringify(record) }),
  })
  assert.ok(status < 300, text)
}

async function write(): Promise<void> {
  start = (await read('order=DESC&limit=1')).body.resume_cursor
  const one = (round: string) => aFiatAccount({ id: account, metadata: { round } })
  const other = (total: string) =>
    aStatement({
      id: statement,
      statement_balances: [{ asset: 'USDG', amount_paid: '0', total_amount_owed: total }],
    })
  await send('fiat-accounts', account, one('1'))
  await send('statements', statement, other('1'))
  await send('fiat-accounts', account, one('2'))
  await send('statements', statement, other('2'))
  await send('fiat-accounts', account)
  await send('fiat-accounts', account, { ...one('3'), deleted_at: null })
}

async function read(query: string, token?: string): Promise<Called> {
  const answer = await service.call(`/v2/events?${query}`, token === undefined ? {} : { token })
  assert.equal(answer.status, 200, answer.text)
  return answer
}

const after = (cursor: string) => `page_cursor=${encodeURIComponent(cursor)}`

type Event = {
  readonly id: string
  readonly type: string
  readonly object: { readonly id: string; readonly kind: string }
  readonly created_at: string
  readonly as_of: string
}

const typesOf = ({ body }: Called): string[] => body.items.map(({ type }: Event) => type)

const written = async (query = ''): Promise<Event[]> =>
  (await read(`${after(start)}&${query}`)).body.items

describe('GET /v2/events', () => {
  test('shows the changes of all kinds in their order, with what leads to each', async () => {
    const items = await written()
    assert.deepEqual(
      items.map(({ type }) => type),
      expected,
    )
    const [first] = items
    assert.ok(first)
    const { id, created_at: at, as_of: asOf, ...rest } = first
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.equal(at, asOf)
    assert.deepEqual(rest, {
      type: 'fiat_account.created',
      object_type: 'fiat_account',
      object: { id: account, kind: 'fiat-accounts' },
    })
  })

  test('has pages in both orders, and no next_page_cursor at the end', async () => {
    for (const limit of [1, 4, 100]) {
      const found: string[] = []
      for (let cursor: string | undefined = start; cursor !== undefined; ) {
        const page = await read(`limit=${limit}&${after(cursor)}`)
        found.push(...typesOf(page))
        assert.equal(typeof page.body.resume_cursor, 'string')
        cursor = page.body.next_page_cursor
      }
      assert.deepEqual(found, expected, `limit ${limit}`)
    }
    const newest: string[] = []
    let cursor = ''
    while (newest.length < expected.length) {
      const page = await read(`order=DESC&limit=4&${after(cursor)}`)
      newest.push(...typesOf(page))
      cursor = page.body.next_page_cursor
    }
    assert.deepEqual(newest.slice(0, expected.length), expected.toReversed())
  })

  test('goes on from the newest event of a page in DESC order', async () => {
    const { body } = await read('order=DESC&limit=2')
    const resumed = await read(after(body.resume_cursor))
    assert.deepEqual([resumed.body.items, resumed.body.resume_cursor], [[], body.resume_cursor])
  })

  test('has filters for types and times, exact to the microsecond', async () => {
    const items = await written()
    const [earliest] = items
    const since = `created_at.gte=${earliest?.created_at}`
    const filter = `${since}&type=fiat_account.deleted&type=statement.updated`
    const deleted: Event[] = (await read(filter)).body.items
    assert.deepEqual(
      deleted.map(({ type }) => type),
      ['statement.updated', 'fiat_account.deleted'],
    )
    const [second, last] = [items[1], items.at(-1)]
    assert.ok(second && last)
    for (const [query, from, to] of [
      [`created_at.gte=${second.created_at}`, 1, 6],
      [`created_at.gt=${second.created_at}`, 2, 6],
      [`created_at.gte=${second.created_at}&created_at.lt=${last.created_at}`, 1, 5],
      [`created_at.lte=${last.created_at}&created_at.gt=${second.created_at}`, 2, 6],
      [`created_at.eq=${second.created_at}`, 1, 2],
    ] as const) {
      // Without a cursor, so that the times alone find the events.
      const { body } = await read(query)
      assert.deepEqual(body.items, items.slice(from, to), query)
      assert.equal(body.next_page_cursor, undefined)
    }
  })

  test('compares few events for a page of a filter, and its cursor goes on behind them', async (t) => {
    const [first] = await written()
    assert.ok(first)
    const filter = `type=fiat_account.deleted&type=statement.updated&created_at.gte=${first.created_at}`
    const whole = (await read(filter)).body
    assert.equal(whole.items.length, 2)
    assert.equal(whole.next_page_cursor, undefined)
    setLimits(t, { eventsComparedMax: 2 })
    for (const order of ['ASC', 'DESC']) {
      const found: Event[] = []
      let pages = 0
      for (let cursor: string | undefined = ''; cursor !== undefined; pages += 1) {
        const { body } = await read(`${filter}&order=${order}&${after(cursor)}`)
        found.push(...body.items)
        cursor = body.next_page_cursor
      }
      assert.deepEqual(order === 'ASC' ? found : found.toReversed(), whole.items)
      assert.ok(pages > found.length, `${pages} pages`)
    }
  })

  test('goes on behind the newest event, where no event of the page matches', async (t) => {
    setLimits(t, { eventsComparedMax: 2 })
    const some = (await read('type=fiat_account.created&order=DESC')).body
    assert.deepEqual([some.items.length, some.items[0]?.object.id], [1, account])
    const filter = 'type=fiat_account.updated'
    const none = (await read(`${filter}&order=DESC`)).body
    assert.deepEqual(none.items, [])
    assert.deepEqual((await read(`${filter}&${after(none.resume_cursor)}`)).body.items, [])
  })

  test('shows a client the kinds of its scopes', async () => {
    const token = await service.tokenOf(acme, 'events:read_event statements:read_statement')
    const { body } = await read(after(start), token)
    assert.deepEqual(
      body.items.map(({ type }: Event) => type),
      ['statement.created', 'statement.updated'],
    )
    const none = await read('', await service.tokenOf(acme, 'events:read_event'))
    assert.deepEqual(none.body.items, [])
    const other = await read('type=fiat_account.created', token)
    assert.deepEqual(other.body.items, [])
  })

  test('refuses a cursor of another customer, filter or order, and a limit over 100', async () => {
    const { body } = await read('limit=1&order=DESC')
    const errorsOf = async (query: string, as = acme) => {
      const answer = await service.call(`/v2/events?${query}`, { as })
      assert.equal(answer.status, 400, answer.text)
      return answer.body.meta.errors.map(({ parameter, code }: Record<string, string>) => [
        parameter,
        code,
      ])
    }
    const next = after(body.next_page_cursor)
    assert.deepEqual(await errorsOf(next), [['page_cursor', 'other_order']])
    const filtered = `${after(start)}&type=statement.created`
    assert.deepEqual(await errorsOf(filtered), [['page_cursor', 'other_filters']])
    assert.deepEqual(await errorsOf(after(start), borealis), [['page_cursor', 'malformed']])
    const { body: list } = await service.call('/v2/transfer/fiat-accounts?limit=1')
    assert.deepEqual(await errorsOf(after(list.next_page_cursor)), [['page_cursor', 'other_list']])
    assert.deepEqual(await errorsOf('limit=101'), [['limit', 'out_of_range']])
    assert.deepEqual(await errorsOf('wait=31'), [['wait', 'out_of_range']])
    assert.deepEqual(await errorsOf('type=fiat_account.moved'), [['type', 'unknown_value']])
  })
})

describe('GET /v2/events/{id}', () => {
  test('answers the event as the list has it', async () => {
    for (const event of await written()) {
      const { status, body } = await service.call(`/v2/events/${event.id.toUpperCase()}`)
      assert.deepEqual([status, body], [200, event])
    }
  })

  test('is 404 for another customer, for a kind of other scopes, and for any other id', async () => {
    const [event] = await written()
    assert.ok(event)
    const unknown = (id: string) => ({
      status: 404,
      detail: `no event found for id: '${id}'`,
      instance: `/v2/events/${id}`,
    })
    const path = `/v2/events/${event.id}`
    assertProblem(await service.call(path, { as: borealis }), unknown(event.id))
    const token = await service.tokenOf(acme, 'events:read_event statements:read_statement')
    assertProblem(await service.call(path, { token }), unknown(event.id))
    assertProblem(await service.call(`/v2/events/${account}`), unknown(account))
  })
})

describe('as_of', () => {
  test('answers the bytes of the version of each event, masked in lists', async () => {
    const rounds: string[] = []
    for (const { object, as_of: asOf, type } of await written()) {
      if (object.kind !== 'fiat-accounts') continue
      const path = '/v2/transfer/fiat-accounts'
      const one = await service.call(`${path}/${object.id}?as_of=${asOf}&include_deleted=true`)
      assert.equal(one.status, 200, one.text)
      rounds.push(one.body.metadata.round)
      const { wire } = one.body.fiat_network_instructions
      assert.equal(wire.account_number, '12345678')
      const without = await service.call(`${path}/${object.id}?as_of=${asOf}`)
      assert.equal(without.status, type === 'fiat_account.deleted' ? 404 : 200)
      const list = await service.call(`${path}?ids=${object.id}&as_of=${asOf}&include_deleted=true`)
      assert.equal(list.headers.get('as-of'), asOf)
      const [masked] = list.body.items
      assert.equal(masked.metadata.round, one.body.metadata.round)
      assert.doesNotMatch(list.text, /12345678/)
      assert.match(masked.fiat_network_instructions.wire.account_number, /^X+5678$/)
    }
    assert.deepEqual(rounds, ['1', '2', '2', '3'])
  })

  test('keeps its time from page to page', async () => {
    const [event] = await written()
    assert.ok(event)
    const path = `/v2/transfer/fiat-accounts?limit=1&as_of=${event.as_of}`
    const first = await service.call(path)
    const next = after(first.body.next_page_cursor)
    const second = await service.call(`/v2/transfer/fiat-accounts?limit=1&${next}`)
    assert.equal(second.headers.get('as-of'), event.as_of)
    const other = await service.call(
      `/v2/transfer/fiat-accounts?limit=1&${next}&as_of=2026-11-23T00:00:00Z`,
    )
    assert.equal(other.status, 400)
    assert.equal(other.body.meta.errors[0].code, 'other_filters')
  })

  test('is 410 before the records are kept, and 400 in the future', async () => {
    for (const path of ['/v2/transfer/fiat-accounts?', `/v2/transfer/fiat-accounts/${account}?`]) {
      const early = await service.call(`${path}as_of=2001-01-01T00:00:00Z`)
      assert.equal(early.status, 410, early.text)
      assert.match(early.body.meta.kept_since, /^20/)
      assert.equal((await service.call(`${path}as_of=2101-01-01T00:00:00Z`)).status, 400)
    }
  })

  test('shows nothing of another customer', async () => {
    const [event] = await written()
    assert.ok(event)
    const path = `/v2/transfer/fiat-accounts/${account}?as_of=${event.as_of}`
    assert.equal((await service.call(path, { as: borealis })).status, 404)
    const { body } = await service.call(
      `/v2/transfer/fiat-accounts?ids=${account}&as_of=${event.as_of}`,
      { as: borealis },
    )
    assert.deepEqual(body, { items: [] })
  })
})

test('the id of an event that a recovery has lost names no later event of its number', async () => {
  const events = service.parts.store.customers.events(asTenant('acme'))
  const asked = { kinds: new Set<string>(eventKinds), order: 'DESC', after: undefined } as const
  const { events: newest, secret } = await events.page({ ...asked, limit: 1 })
  const [later] = newest
  assert.ok(later)
  const lost = eventId(secret, { ...later, storedAt: later.storedAt - 1n })
  assertProblem(await service.call(`/v2/events/${lost}`), {
    status: 410,
    detail: 'the event was pruned, or lost in a recovery',
    instance: `/v2/events/${lost}`,
  })
  assert.equal((await service.call(`/v2/events/${eventId(secret, later)}`)).status, 200)
})

test('a cursor and an event from before a pruning are 410', async () => {
  const items = await written()
  const last = items.at(-1)
  const [first] = items
  assert.ok(first && last)
  const before = parseInstant(last.created_at)?.micros ?? 0n
  await service.parts.store.operator.pruneHistory(before, undefined, 1000)
  const stale = await service.call(`/v2/events?${after(start)}`)
  assertProblem(stale, {
    status: 410,
    detail:
      'events after this cursor are gone; read the lists, then the events without page_cursor',
    instance: '/v2/events',
  })
  assert.equal((await service.call(`/v2/events/${first.id}`)).status, 410)
  assert.equal((await service.call(`/v2/events/${last.id}`)).status, 200)
  assert.equal((await read('order=DESC&limit=1')).body.items[0].id, last.id)
})
