import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asTenant } from '@bursar/contract'
import { turn, until } from '../../../../test/support/until.ts'
import type { EventsQuery } from '../../src/works/events/find-events.ts'
import { openSharedReads, type PlainValue } from '../../src/works/events/shared-reads.ts'

/** Reads that the test answers by hand, in the order in which they have begun. */
function openReads<Query extends PlainValue = string>(runningMax: number) {
  const begun: { query: Query; found: PromiseWithResolvers<string> }[] = []
  const { read } = openSharedReads({
    runningMax,
    read: (query: Query) => {
      const found = Promise.withResolvers<string>()
      begun.push({ query, found })
      return found.promise
    },
  })
  return {
    begun,
    read: (query: Query, over = new AbortController().signal) => read(query, over),
    queries: () => begun.map(({ query }) => query),
    untilBegun: (count: number) => until(() => begun.length === count),
    answer: (at: number, found: string) => begun[at]?.found.resolve(found),
    fail: (at: number, error: Error) => begun[at]?.found.reject(error),
  }
}

/** Long enough for a read that is free to begin. */
const someTurns = async () => {
  for (let passed = 0; passed < 5; passed += 1) await turn()
}

const query: EventsQuery = {
  tenant: asTenant('acme'),
  isFresh: false,
  kinds: new Set(['statements', 'fees']),
  types: new Set(['statement.created', 'statement.updated']),
  times: { from: 5n, before: undefined },
  order: 'ASC',
  after: { change: 7n, digest: 8n, pruned: 9n },
  limit: 10,
}

const place = { change: 7n, digest: 8n, pruned: 9n }

/** Each differs from `query` in one way. */
const others: readonly EventsQuery[] = [
  { ...query, tenant: asTenant('borealis') },
  { ...query, tenant: asTenant('acme","isFresh":false') },
  { ...query, isFresh: true },
  { ...query, kinds: new Set(['statements']) },
  { ...query, kinds: new Set(['statements,fees']) },
  { ...query, types: new Set(['statement.created']) },
  { ...query, types: new Set() },
  { ...query, types: undefined },
  { ...query, times: { from: undefined, before: 5n } },
  { ...query, times: { from: 5n, before: 6n } },
  { ...query, times: { from: undefined, before: undefined } },
  { ...query, order: 'DESC' },
  { ...query, after: undefined },
  { ...query, after: { ...place, change: 8n } },
  { ...query, after: { ...place, digest: 9n } },
  { ...query, after: { ...place, pruned: 10n } },
  { ...query, limit: 11 },
]

describe('reads that requests share', () => {
  test('are one for all that wait with an equal query', async () => {
    const reads = openReads<EventsQuery>(9)
    const isSame = { ...query, kinds: new Set(['fees', 'statements']), after: { ...place } }
    const answers = Array.from({ length: 100 }, (_, at) => reads.read(at % 2 ? query : isSame))
    await reads.untilBegun(1)
    reads.answer(0, 'page')
    assert.deepEqual(new Set(await Promise.all(answers)), new Set(['page']))
    assert.equal(reads.begun.length, 1)
  })

  test('are never one for queries that differ in any member', async () => {
    const all = [query, ...others]
    const reads = openReads<EventsQuery>(all.length)
    const answers = all.map((one) => reads.read(one))
    await reads.untilBegun(all.length)
    assert.deepEqual(reads.queries(), all)
    for (const at of all.keys()) reads.answer(at, `page ${at}`)
    const expected = all.map((_, at) => `page ${at}`)
    assert.deepEqual(await Promise.all(answers), expected)
  })

  test('begin in the order of arrival, a bounded number at a time', async () => {
    const reads = openReads(2)
    const answers = ['a', 'b', 'c', 'a', 'd'].map((one) => reads.read(one))
    await reads.untilBegun(2)
    await someTurns()
    assert.deepEqual(reads.queries(), ['a', 'b'])
    reads.answer(1, 'of b')
    await reads.untilBegun(3)
    reads.answer(0, 'of a')
    await reads.untilBegun(4)
    assert.deepEqual(reads.queries(), ['a', 'b', 'c', 'd'])
    reads.answer(2, 'of c')
    reads.answer(3, 'of d')
    assert.deepEqual(await Promise.all(answers), ['of a', 'of b', 'of c', 'of a', 'of d'])
  })

  test('that have begun are joined by nobody, who might miss a newer change', async () => {
    const reads = openReads(2)
    const early = reads.read('a')
    await reads.untilBegun(1)
    // The change comes after the first read has seen the store, and wakes the second reader.
    const late = reads.read('a')
    await reads.untilBegun(2)
    reads.answer(0, 'before the change')
    reads.answer(1, 'the change')
    assert.deepEqual(await Promise.all([early, late]), ['before the change', 'the change'])
  })

  test('are left by a reader whose time is over or whose client is gone', async () => {
    const reads = openReads(1)
    const running = reads.read('a')
    await reads.untilBegun(1)
    const over = new AbortController()
    const alone = reads.read('b', over.signal)
    const beside = reads.read('c', over.signal)
    const other = reads.read('c')
    over.abort()
    assert.deepEqual(await Promise.all([alone, beside]), [undefined, undefined])
    assert.equal(await reads.read('d', over.signal), undefined)
    reads.answer(0, 'of a')
    await reads.untilBegun(2)
    reads.answer(1, 'of c')
    assert.deepEqual(await Promise.all([running, other]), ['of a', 'of c'])
    await someTurns()
    assert.deepEqual(reads.queries(), ['a', 'c'])
  })

  test('answer a reader whose time ends after they have begun', async () => {
    const reads = openReads(1)
    const over = new AbortController()
    const answer = reads.read('a', over.signal)
    await reads.untilBegun(1)
    over.abort()
    reads.answer(0, 'of a')
    assert.equal(await answer, 'of a')
  })

  test('fail for each of their readers, and the next ones begin', async () => {
    const reads = openReads(1)
    const failure = new Error('the store is not available')
    const answers = [reads.read('a'), reads.read('a')]
    const next = reads.read('b')
    await reads.untilBegun(1)
    reads.fail(0, failure)
    for (const answer of answers) await assert.rejects(answer, failure)
    await reads.untilBegun(2)
    reads.answer(1, 'of b')
    assert.equal(await next, 'of b')
  })
})
