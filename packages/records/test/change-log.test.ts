import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeStore } from '../../../test/support/describe-store.ts'
import { aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'
import { inAnHour } from '../../../test/support/until.ts'
import { type ChangePlace, EventsUnknown, type StoredChange } from '../src/records/events.ts'
import type { PruneKey } from '../src/records/history.ts'

const tested = describeStore()

const read = (place?: ChangePlace, limit = 1000) => tested.store.operator.changes(place, limit)

const shown = ({ customerId, change, kind, action }: StoredChange) =>
  `${customerId} ${change} ${kind} ${action}`

const account = (id: number, customer: string, status = 'PENDING') =>
  aFiatAccount({ id: anId(id), customer_id: customer, ref_id: `r-${id}`, status })

const accounts = (count: number, customer: string) =>
  Array.from({ length: count }, (_, at) => account(at + 1, customer))

test('each version of each customer is there once, those of a customer in their order', async () => {
  await tested.take('fiat-accounts', [account(1, 'acme'), account(2, 'borealis')])
  const first = await read()
  assert.deepEqual(first.changes.map(shown), [
    'acme 1 fiat-accounts created',
    'borealis 1 fiat-accounts created',
  ])
  await tested.take('statements', [aStatement({ id: anId(3) })])
  await tested.take('fiat-accounts', [account(2, 'borealis', 'REJECTED'), account(1, 'acme')])
  await tested.store.operator.noteConsumed({ id: anId(9), customerId: 'borealis' }, inAnHour())
  const second = await read(first.last)
  assert.deepEqual(second.changes.map(shown), [
    'acme 2 statements created',
    'borealis 2 fiat-accounts updated',
    'borealis 3 fees consumed',
  ])
  const third = await read(second.last)
  assert.deepEqual([third.changes, third.more, third.last], [[], false, second.last])
})

test('pages of any size join without a gap or a repeat, within a large entry too', async () => {
  await tested.take('fiat-accounts', accounts(2500, 'acme'))
  await tested.take('statements', [aStatement({ id: anId(3), customer_id: 'borealis' })])
  const { changes: all } = await read(undefined, 5000)
  assert.equal(all.length, 2501)
  for (const limit of [7, 999, 1000, 1001]) {
    const found: StoredChange[] = []
    let place: ChangePlace | undefined
    for (let more = true; more; ) {
      const page = await read(place, limit)
      assert.ok(page.changes.length <= limit)
      found.push(...page.changes)
      ;({ more, last: place } = page)
    }
    assert.deepEqual(found.map(shown), all.map(shown), `by ${limit}`)
  }
})

test('readers at the same time see one order', async () => {
  await tested.take('fiat-accounts', accounts(30, 'acme'))
  await tested.take('statements', [aStatement({ id: anId(3), customer_id: 'borealis' })])
  const pages = await Promise.all(Array.from({ length: 5 }, () => read()))
  for (const { changes } of pages) assert.deepEqual(changes, pages[0]?.changes)
})

test('a reader that began before a pruning is refused if it has missed something', async () => {
  const begun = await read()
  for (const status of ['PENDING', 'REJECTED', 'PENDING']) {
    await tested.take('fiat-accounts', [account(1, 'acme', status)])
  }
  const behind = await read(begun.last, 1)
  const level = await read(behind.last)
  const last = level.changes.at(-1)
  assert.ok(last)
  await tested.store.operator.pruneHistory(last.storedAt, undefined, 100)
  await assert.rejects(read(behind.last), EventsUnknown)
  assert.deepEqual((await read(level.last)).changes, [])
  // A new reader gets what is kept.
  assert.deepEqual((await read()).changes.map(shown), ['acme 3 fiat-accounts updated'])
})

test('a pruning takes the entries whose versions are all gone, and leaves the others', async () => {
  const { store } = tested
  const begun = await read()
  const places: ChangePlace[] = []
  for (const [at, status] of ['PENDING', 'REJECTED', 'PENDING'].entries()) {
    await tested.take('fiat-accounts', [account(1, 'acme', status), account(2 + at, 'borealis')])
    places.push((await read(places.at(-1) ?? begun.last)).last)
  }
  const [first, second, level] = places
  assert.ok(first && second && level)
  const now = (await read()).changes.at(-1)?.storedAt ?? 0n
  let from: PruneKey | undefined
  do {
    from = (await store.operator.pruneHistory(now + 1_000_000n, from, 2)).next
  } while (from !== undefined)
  assert.equal((await tested.ask('select seq from bursar.change_log')).length, 4)
  const kept = ['borealis 1 fiat-accounts created', 'borealis 2 fiat-accounts created']
  const last = ['acme 3 fiat-accounts updated', 'borealis 3 fiat-accounts created']
  assert.deepEqual((await read()).changes.map(shown), [...kept, ...last])
  // The entry of acme's second version comes after this place and is gone.
  await assert.rejects(read(first), EventsUnknown)
  assert.deepEqual((await read(second)).changes.map(shown), last)
  assert.deepEqual((await read(level)).changes, [])
})

test('a place that the log does not have is refused', async () => {
  await tested.take('fiat-accounts', [account(1, 'acme')])
  const { last } = await read()
  await assert.rejects(read({ ...last, seq: last.seq + 1n }), EventsUnknown)
  await assert.rejects(read({ ...last, salt: last.salt - 1n }), EventsUnknown)
})
