import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asTenant, eventKinds, eventTypeOf } from '@bursar/contract'
import { describeStore } from '../../../test/support/describe-store.ts'
import { resourceOf } from '../../../test/support/record-store.ts'
import { aDepositAddress, aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'
import { inAnHour } from '../../../test/support/until.ts'
import {
  type EventSelection,
  EventsUnknown,
  placeAfter,
  type StoredEvent,
} from '../src/records/events.ts'

const tested = describeStore()

const all = new Set(eventKinds)

const pageOf = (customerId: string, over: Partial<EventSelection> = {}) =>
  tested.store.customers
    .events(asTenant(customerId))
    .page({ kinds: all, order: 'ASC', after: undefined, limit: 100, ...over })

const shown = ({ change, kind, id, action }: StoredEvent) => [
  Number(change),
  kind,
  Number(id.slice(-4)),
  action,
]

const placeOf = (event: StoredEvent, pruned = 0n) => placeAfter(event, pruned)

const withdraw = (kind: string, id: string) =>
  tested.store.operator.put(resourceOf(kind), {
    record: { customerId: 'acme', id, withdraws: true },
    precondition: {},
    allowOlder: false,
    from: { command: 'DELETE', clientId: 'core' },
  })

/** Seven versions of three kinds, of which another customer takes a value in the last one. */
async function storeSome() {
  const [one, two] = [1, 2].map((at) => aFiatAccount({ id: anId(at), ref_id: `r-${at}` }))
  await tested.take('fiat-accounts', [one, two])
  await tested.take('statements', [aStatement({ id: anId(3) })])
  await tested.take('fiat-accounts', [{ ...one, status: 'REJECTED' }, two])
  await tested.take('deposit-addresses', [aDepositAddress({ id: anId(4) })])
  await withdraw('statements', anId(3))
  const other = aDepositAddress({ id: anId(5), customer_id: 'other' })
  await tested.take('deposit-addresses', [other], { takeOver: true })
}

const expected = [
  [1, 'fiat-accounts', 1, 'created'],
  [2, 'fiat-accounts', 2, 'created'],
  [3, 'statements', 3, 'created'],
  [4, 'fiat-accounts', 1, 'updated'],
  [5, 'deposit-addresses', 4, 'created'],
  [6, 'statements', 3, 'deleted'],
  [7, 'deposit-addresses', 4, 'deleted'],
]

test('each version of a customer is one event, in the order of all kinds', async () => {
  await storeSome()
  const { events, more, changes } = await pageOf('acme')
  assert.deepEqual(events.map(shown), expected)
  assert.deepEqual([more, changes], [false, 7n])
  assert.deepEqual((await pageOf('other')).events.map(shown), [
    [1, 'deposit-addresses', 5, 'created'],
  ])
  assert.deepEqual((await pageOf('nobody')).events, [])
  const descending = await pageOf('acme', { order: 'DESC' })
  assert.deepEqual(descending.events.map(shown), expected.toReversed())
})

test('pages of any size join without a gap or a repeat, in both orders', async () => {
  await storeSome()
  for (const order of ['ASC', 'DESC'] as const) {
    for (const limit of [1, 2, 3, 6, 7]) {
      const found: StoredEvent[] = []
      for (let more = true; more; ) {
        const last = found.at(-1)
        const after = last && placeOf(last)
        const page = await pageOf('acme', { order, limit, after })
        found.push(...page.events)
        more = page.more
      }
      const wanted = order === 'ASC' ? expected : expected.toReversed()
      assert.deepEqual(found.map(shown), wanted, `${order} by ${limit}`)
    }
  }
})

test('a reader sees the kinds that it names, and resumes after one that it does not', async () => {
  await storeSome()
  const kinds = new Set<string>(['statements'])
  const { events } = await pageOf('acme', { kinds })
  assert.deepEqual(events.map(shown), [expected[2], expected[5]])
  const [fourth] = (await pageOf('acme')).events.slice(3, 4)
  assert.ok(fourth)
  const later = await pageOf('acme', { kinds, after: placeOf(fourth) })
  assert.deepEqual(later.events.map(shown), [expected[5]])
})

test('a record that comes back is created again, and one that is changed while deleted stays deleted', async () => {
  const account = aFiatAccount()
  const deletedAt = '2026-02-01T00:00:00Z'
  await tested.take('fiat-accounts', [account])
  await tested.take('fiat-accounts', [{ ...account, deleted_at: deletedAt }])
  await tested.take('fiat-accounts', [{ ...account, deleted_at: deletedAt, status: 'REJECTED' }])
  await tested.take('fiat-accounts', [{ ...account, deleted_at: null }])
  const { events } = await pageOf('acme')
  assert.deepEqual(
    events.map(({ action }) => action),
    ['created', 'deleted', 'deleted', 'created'],
  )
})

test('one event is found by its number, by those who may read its kind', async () => {
  await storeSome()
  const events = tested.store.customers.events(asTenant('acme'))
  const found = await events.find(all, 4n)
  assert.deepEqual(found && shown(found), expected[3])
  assert.equal(await events.find(new Set(['statements']), 4n), undefined)
  assert.equal(await events.find(all, 8n), undefined)
})

test('a filter selects the events of its types and times, from every place in both orders', async () => {
  await storeSome()
  const { events } = await pageOf('acme')
  const typeOf = ({ kind, action }: StoredEvent) => eventTypeOf(kind, action)
  const kinds = new Set(['statements', 'fiat-accounts'])
  const someTypes = [
    undefined,
    new Set(['statement.deleted', 'fiat_account.created']),
    new Set(['statement.updated', 'fiat_account.deleted']),
  ]
  const [from, before] = [events[1]?.storedAt, events[5]?.storedAt]
  for (const order of ['ASC', 'DESC'] as const) {
    const inOrder = order === 'ASC' ? events : events.toReversed()
    for (const types of someTypes) {
      for (const times of [
        { from: undefined, before: undefined },
        { from, before },
      ]) {
        for (const at of [undefined, ...inOrder.keys()]) {
          const last = at === undefined ? undefined : inOrder[at]
          const wanted = inOrder
            .slice((at ?? -1) + 1)
            .filter(({ kind }) => kinds.has(kind))
            .filter((event) => types === undefined || types.has(typeOf(event)))
            .filter(({ storedAt }) => times.from === undefined || storedAt >= times.from)
            .filter(({ storedAt }) => times.before === undefined || storedAt < times.before)
          const after = last && placeOf(last)
          const page = await pageOf('acme', { kinds, order, after, filter: { types, times } })
          assert.deepEqual(page.events.map(shown), wanted.map(shown), `${order} after ${at}`)
        }
      }
    }
  }
})

test('a stretch is the next events of the kinds that are named, with its ends', async () => {
  await storeSome()
  const { events } = await pageOf('acme')
  const reader = tested.store.customers.events(asTenant('acme'))
  for (const kinds of [all, new Set(['fiat-accounts', 'statements'])]) {
    for (const order of ['ASC', 'DESC'] as const) {
      const inOrder = order === 'ASC' ? events : events.toReversed()
      for (const [at, event] of [[-1, undefined] as const, ...inOrder.entries()]) {
        for (const limit of [1, 3, 100]) {
          const next = inOrder
            .slice(at + 1)
            .filter(({ kind }) => kinds.has(kind))
            .slice(0, limit)
          const after = event && placeOf(event)
          const found = await reader.stretch({ kinds, order, after, limit })
          assert.deepEqual(
            found && [found.first.change, found.last.change, found.events],
            next.length === 0 ? undefined : [next[0]?.change, next.at(-1)?.change, next.length],
            `${order} after ${at}, ${limit}`,
          )
          assert.equal(found?.last.storedAt, next.at(-1)?.storedAt)
        }
      }
    }
  }
})

test('a range of times has exactly the events of those times in it', async () => {
  await storeSome()
  const { events } = await pageOf('acme')
  const reader = tested.store.customers.events(asTenant('acme'))
  const times = [...new Set(events.map(({ storedAt }) => storedAt))]
  for (const from of [undefined, 0n, ...times, 2n ** 60n]) {
    for (const before of [undefined, 0n, ...times, 2n ** 60n]) {
      const range = await reader.rangeOf(all, { from, before })
      const isIn = ({ storedAt }: StoredEvent) =>
        (from === undefined || storedAt >= from) && (before === undefined || storedAt < before)
      const page = await pageOf('acme', { range })
      assert.deepEqual(page.events.filter(isIn).map(shown), events.filter(isIn).map(shown))
      // One clock has stored them, so no other event is in the range.
      assert.ok(page.events.every(isIn), `${from} to ${before}`)
    }
  }
})

test('a reader that has read what was pruned later goes on; one before that is refused', async () => {
  const account = aFiatAccount()
  const statuses = ['PENDING', 'REJECTED', 'PENDING', 'REJECTED', 'PENDING']
  for (const status of statuses) await tested.take('fiat-accounts', [{ ...account, status }])
  const { events } = await pageOf('acme')
  const [first, second, third] = events
  assert.ok(first && second && third)
  // The first two are replaced by then.
  await tested.store.operator.pruneHistory(third.storedAt, undefined, 100)
  const kept = await pageOf('acme')
  assert.deepEqual([kept.events.map(({ change }) => change), kept.pruned], [[3n, 4n, 5n], 2n])
  const resumed = await pageOf('acme', { after: placeOf(second) })
  assert.deepEqual(
    resumed.events.map(({ change }) => change),
    [3n, 4n, 5n],
  )
  await assert.rejects(pageOf('acme', { after: placeOf(first) }), EventsUnknown)
  // It has begun after the pruning.
  const begun = { change: 0n, digest: 0n, pruned: 2n }
  assert.equal((await pageOf('acme', { after: begun })).events.length, 3)
  assert.deepEqual(
    kept.events.map(({ asOf, storedAt }) => asOf === storedAt),
    [true, true, true],
  )
})

test('what survives a pruning is known since then, and is read as of that time', async () => {
  const old = aFiatAccount({ id: anId(1) })
  const changed = aFiatAccount({ id: anId(2) })
  await tested.take('fiat-accounts', [old, changed])
  await tested.take('fiat-accounts', [{ ...changed, status: 'REJECTED' }])
  const before = (await pageOf('acme')).events.at(-1)?.storedAt ?? 0n
  await tested.store.operator.pruneHistory(before, undefined, 100)
  const [survivor] = (await pageOf('acme')).events
  assert.ok(survivor)
  assert.deepEqual([shown(survivor), survivor.asOf], [[1, 'fiat-accounts', 1, 'created'], before])
})

test('a place whose event is lost, or is another one, is refused', async () => {
  await storeSome()
  const seventh = (await pageOf('acme')).events.at(-1)
  assert.ok(seventh)
  const after = placeOf(seventh)
  assert.deepEqual((await pageOf('acme', { after })).events, [])
  const later = { ...after, change: 8n }
  await assert.rejects(pageOf('acme', { after: later }), EventsUnknown)
  const other = { ...after, digest: after.digest - 1n }
  await assert.rejects(pageOf('acme', { after: other }), EventsUnknown)
})

test('a consumed fee is one event of its customer, however often it is noted', async () => {
  const fee = { id: anId(9), customerId: 'acme' }
  const note = (one: typeof fee) => tested.store.operator.noteConsumed(one, inAnHour())
  await tested.take('statements', [aStatement({ id: anId(3) })])
  await note(fee)
  await Promise.all([note(fee), note({ ...fee, id: anId(8) })])
  await tested.take('fiat-accounts', [aFiatAccount()])
  await note({ ...fee, customerId: 'new' })
  const { events, changes } = await pageOf('acme')
  assert.deepEqual(events.map(shown), [
    [1, 'statements', 3, 'created'],
    [2, 'fees', 9, 'consumed'],
    [3, 'fees', 8, 'consumed'],
    [4, 'fiat-accounts', 1, 'created'],
  ])
  assert.equal(changes, 4n)
  assert.deepEqual((await pageOf('new')).events.map(shown), [[1, 'fees', 9, 'consumed']])
})

test('each customer has a secret of its own', async () => {
  await storeSome()
  const secrets = ['acme', 'other', 'nobody'].map((id) =>
    tested.store.customers.events(asTenant(id)).secret(),
  )
  const [acme, other, nobody] = await Promise.all(secrets)
  assert.deepEqual([acme?.length, other?.length, nobody], [16, 16, undefined])
  assert.notDeepEqual(acme, other)
})
