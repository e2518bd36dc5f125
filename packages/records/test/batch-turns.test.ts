import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { holdLoop, turn } from '../../../test/support/until.ts'
import { openBatchQueue } from '../src/batch-queue.ts'
import { StoreUnavailable } from '../src/unavailable.ts'

/** `client/customer/name`. */
type Request = string

type Options = {
  readonly weightMax?: number
  readonly waitingMax?: number
  readonly runningMax?: number
  readonly beside?: { readonly afterMs: number; readonly isFree: () => boolean }
}

/** A batch ends only when the test says so, and first passes some requests to `again`. */
function openTested({ weightMax = 8, waitingMax = 100, runningMax = 1, beside }: Options = {}) {
  const batches: { requests: Request[]; end: (again?: readonly Request[]) => Promise<void> }[] = []
  const part = (request: Request, at: number) => request.split('/')[at] ?? ''
  const enqueue = openBatchQueue<Request, Request>({
    name: 'records',
    weightMax,
    turns: {
      keysOf: (request) => [`client ${part(request, 0)}`, `customer ${part(request, 1)}`],
      nameOf: (request) => part(request, 2),
      apartOf: (request) => [`customer ${part(request, 1)}`],
      weightPerKeyMax: 4,
      rememberedMs: 60_000,
    },
    runningMax,
    ...(beside !== undefined && { beside }),
    startsFullBatches: false,
    waitingMax,
    waitMs: 60_000,
    run: (batch, _oldest, runAgain) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      batches.push({
        requests: batch.map(({ request }) => request),
        end: async (again = []) => {
          for (const one of batch) {
            if (again.includes(one.request)) runAgain(one)
            else one.result.resolve(one.request)
          }
          resolve()
          await turn()
          await turn()
        },
      })
      return promise
    },
  })
  const seen = () => batches.map(({ requests }) => requests)
  /** Runs all batches, as many as there are. */
  const endAll = async () => {
    for (let at = 0; at < batches.length; at += 1) await batches[at]?.end()
    return seen()
  }
  return { enqueue, batches, seen, endAll }
}

const many = (count: number, nameOne: (at: number) => Request): readonly Request[] =>
  Array.from({ length: count }, (_, at) => nameOne(at))

describe('the turns of a batch queue', () => {
  for (const [flood, each] of [
    ['one client for many customers', (at: number) => `greedy/customer-${at}/${at}`],
    ['many clients for one customer', (at: number) => `client-${at}/greedy/${at}`],
    ['one client for one customer', (at: number) => `greedy/greedy/${at}`],
  ] as const) {
    test(`put a single request into the next batch, beside 50 of ${flood}`, async () => {
      const { enqueue, endAll, batches } = openTested()
      const results = many(50, each).map(enqueue)
      await turn()
      results.push(enqueue('lone/lone/lone'))
      await batches[0]?.end()
      assert.ok(batches[1]?.requests.includes('lone/lone/lone'), String(batches[1]?.requests))
      const ran = await endAll()
      assert.deepEqual(ran.flat().toSorted(), (await Promise.all(results)).toSorted())
      // Every later batch leaves room, because the lone one may come again.
      assert.deepEqual([...new Set(ran.slice(2).map(({ length }) => length))].toSorted(), [2, 4])
    })
  }

  test('fill a batch with one key, while no other has sent requests', async () => {
    const { enqueue, endAll } = openTested()
    const results = many(16, (at) => `one/one/${at}`).map(enqueue)
    await turn()
    const ran = await endAll()
    assert.deepEqual(
      ran.map(({ length }) => length),
      [8, 8],
    )
    await Promise.all(results)
  })

  test('share a full batch evenly among keys that have sent unequally', async () => {
    const { enqueue, batches, endAll } = openTested({ weightMax: 9 })
    const results = many(9, (at) => `a/a/a${at}`).map(enqueue)
    await turn()
    results.push(...many(9, (at) => `b/b/b${at}`).map(enqueue))
    results.push(...many(9, (at) => `c/c/c${at}`).map(enqueue))
    results.push(enqueue('d/d/d0'))
    await batches[0]?.end()
    const counts = Object.groupBy(batches[1]?.requests ?? [], (request) => request.charAt(0))
    const shares = Object.entries(counts).map(([key, requests]) => [key, requests?.length])
    assert.deepEqual(Object.fromEntries(shares), { b: 4, c: 4, d: 1 })
    await endAll()
    await Promise.all(results)
  })

  test('keep the order of arrival of each key', async () => {
    const { enqueue, endAll } = openTested()
    const results = many(20, (at) => `${at % 3}/${at % 3}/${at}`).map(enqueue)
    await turn()
    const ran = (await endAll()).flat()
    for (const key of ['0', '1', '2']) {
      const ofKey = ran.filter((request) => request.startsWith(key))
      const names = ofKey.map((request) => Number(request.split('/')[2]))
      assert.deepEqual(
        names,
        names.toSorted((a, b) => a - b),
      )
    }
    await Promise.all(results)
  })

  test('never put two requests of one name into a batch, and let others pass between them', async () => {
    const { enqueue, endAll } = openTested()
    const results = ['a/a/same', 'b/b/same', 'a/a/other', 'a/a/same'].map(enqueue)
    await turn()
    const second = ['b/b/same']
    assert.deepEqual(await endAll(), [['a/a/same', 'a/a/other'], second, ['a/a/same']])
    await Promise.all(results)
  })

  test('never run two batches of a customer or of a name beside each other', async () => {
    const { enqueue, batches, seen } = openTested({ runningMax: 3 })
    const results = ['a/x/1', 'a/x/2'].map(enqueue)
    await turn()
    results.push(...['b/x/3', 'b/y/1', 'b/z/4', 'b/x/5', 'b/z/6'].map(enqueue))
    await turn()
    assert.deepEqual(seen(), [
      ['a/x/1', 'a/x/2'],
      ['b/z/4', 'b/z/6'],
    ])
    results.push(...['c/z/7', 'c/x/8'].map(enqueue))
    await turn()
    assert.equal(batches.length, 2)
    await batches[0]?.end()
    // Client b has its share with what runs.
    assert.deepEqual(seen().slice(2), [['b/x/3', 'b/y/1', 'c/x/8']])
    await batches[1]?.end()
    assert.deepEqual(seen().slice(3), [['c/z/7']])
    await batches[2]?.end()
    assert.deepEqual(seen().slice(4), [['b/x/5']])
    await batches[3]?.end()
    await batches[4]?.end()
    assert.equal((await Promise.all(results)).length, 9)
  })

  test('leave a flood its share of all running batches, and begin one for another key at once', async () => {
    const beside = { afterMs: 60_000, isFree: () => true }
    const { enqueue, batches, seen, endAll } = openTested({ runningMax: 3, beside })
    const results = [enqueue('lone/lone/first')]
    await turn()
    await batches[0]?.end()
    results.push(...many(20, (at) => `greedy/customer-${at}/${at}`).map(enqueue))
    await turn()
    assert.equal(batches[1]?.requests.length, 4)
    results.push(enqueue('lone/lone/second'))
    await turn()
    assert.deepEqual(seen().slice(2), [['lone/lone/second']])
    await batches[2]?.end()
    assert.equal(batches.length, 3)
    await batches[1]?.end()
    const flooded = (await endAll()).slice(3).map(({ length }) => length)
    assert.deepEqual(flooded, [4, 4, 4, 4])
    assert.equal((await Promise.all(results)).length, 22)
  })

  test('run a request that runs again before later ones of its customer', async () => {
    const { enqueue, batches, seen } = openTested({ runningMax: 2 })
    const results = ['a/x/1', 'a/x/2'].map(enqueue)
    await turn()
    results.push(enqueue('a/x/3'))
    await batches[0]?.end(['a/x/2'])
    assert.deepEqual(seen().slice(1), [['a/x/2', 'a/x/3']])
    await batches[1]?.end()
    assert.deepEqual(await Promise.all(results), ['a/x/1', 'a/x/2', 'a/x/3'])
  })

  test('run a request again at its old place, in the next batch', async () => {
    const { enqueue, batches, seen } = openTested({ weightMax: 2 })
    const results = ['a/a/1', 'a/a/2', 'a/a/3', 'a/a/4'].map(enqueue)
    await turn()
    await batches[0]?.end(['a/a/2'])
    assert.deepEqual(seen(), [
      ['a/a/1', 'a/a/2'],
      ['a/a/2', 'a/a/3'],
    ])
    await batches[1]?.end()
    await batches[2]?.end()
    assert.deepEqual(await Promise.all(results), ['a/a/1', 'a/a/2', 'a/a/3', 'a/a/4'])
  })

  test('refuse a key that holds as many places as are free, and leave those to other keys', async () => {
    const { enqueue, batches, endAll } = openTested({ waitingMax: 20 })
    const results = [enqueue('greedy/one/first')]
    await turn()
    results.push(...many(10, (at) => `greedy/customer-${at}/${at}`).map(enqueue))
    holdLoop(6)
    const refused = await enqueue('greedy/one/refused').catch((error) => error)
    assert.ok(refused instanceof StoreUnavailable)
    assert.match(refused.message, /too many records wait/)
    assert.ok(Number(refused.retryAfterMs) >= 5, String(refused.retryAfterMs))
    // A second greedy key gets half of the rest, so that a third one still fits.
    results.push(...many(5, (at) => `second/second/${at + 20}`).map(enqueue))
    await assert.rejects(enqueue('second/second/refused'), StoreUnavailable)
    await assert.rejects(enqueue('third/second/refused'), StoreUnavailable)
    results.push(enqueue('third/third/30'))
    await batches[0]?.end()
    await endAll()
    assert.equal((await Promise.all(results)).length, 17)
  })
})
