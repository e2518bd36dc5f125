import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { turn } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { openBatchQueue } from '../src/batch-queue.ts'

type Options = {
  readonly runningMax?: number
  readonly startsFullBatches?: boolean
  readonly waitingMax?: number
  readonly waitMs?: number
  readonly beside?: { readonly afterMs: number; readonly isFree: () => boolean }
}

/** A batch ends only when the test says so. A request is a number, and also its weight. */
function openTested({
  runningMax = 2,
  startsFullBatches = true,
  waitingMax = 100,
  waitMs = 60_000,
  beside,
}: Options = {}) {
  const batches: { requests: readonly number[]; end: (error?: Error) => Promise<void> }[] = []
  const enqueue = openBatchQueue<number, string>({
    name: 'records',
    weightOf: (weight) => weight,
    weightMax: 10,
    runningMax,
    startsFullBatches,
    waitingMax,
    waitMs,
    ...(beside !== undefined && { beside }),
    run: (batch) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      batches.push({
        requests: batch.map(({ request }) => request),
        end: async (error) => {
          if (error === undefined) {
            for (const { request, result } of batch) result.resolve(`${request}`)
            resolve()
          } else reject(error)
          await turn()
          await turn()
        },
      })
      return promise
    },
  })
  return { enqueue, batches, seen: () => batches.map(({ requests }) => requests) }
}

const unavailable = (message: RegExp) => ({ name: 'StoreUnavailable', message })

describe('a batch queue', () => {
  test('runs the requests of one turn of the event loop in one batch', async () => {
    const { enqueue, batches, seen } = openTested()
    const results = [enqueue(1), enqueue(2), enqueue(3)]
    await turn()
    assert.deepEqual(seen(), [[1, 2, 3]])
    await batches[0]?.end()
    assert.deepEqual(await Promise.all(results), ['1', '2', '3'])
  })

  test('lets requests wait while enough batches run, and starts the next when one ends', async () => {
    const { enqueue, batches, seen } = openTested()
    const results: Promise<string>[] = []
    for (const weight of [1, 2, 3, 4]) {
      results.push(enqueue(weight))
      await turn()
    }
    assert.deepEqual(seen(), [[1], [2]])
    await batches[1]?.end()
    assert.deepEqual(seen(), [[1], [2], [3, 4]])
    await batches[0]?.end()
    await batches[2]?.end()
    assert.deepEqual(await Promise.all(results), ['1', '2', '3', '4'])
  })

  for (const { startsFullBatches, expected } of [
    { startsFullBatches: true, expected: [[1], [4, 4]] },
    { startsFullBatches: false, expected: [[1]] },
  ]) {
    const act = startsFullBatches ? 'starts a full batch at once' : 'lets a full batch wait too'
    test(`${act} if startsFullBatches is ${startsFullBatches}`, async () => {
      const { enqueue, batches, seen } = openTested({ runningMax: 1, startsFullBatches })
      const results = [enqueue(1)]
      await turn()
      results.push(enqueue(4), enqueue(4))
      await turn()
      assert.deepEqual(seen(), [[1]])
      results.push(enqueue(4))
      await turn()
      assert.deepEqual(seen(), expected)
      for (let at = 0; at < 3; at += 1) await batches[at]?.end()
      assert.deepEqual(await Promise.all(results), ['1', '4', '4', '4'])
      assert.deepEqual(seen(), [[1], [4, 4], [4]])
    })
  }

  test('begins a batch beside another only once that one has run for a while', async () => {
    using time = takeTime()
    const { enqueue, batches, seen } = openTested({
      beside: { afterMs: 50, isFree: () => true },
    })
    const results = [enqueue(1)]
    await turn()
    results.push(enqueue(2))
    await turn()
    results.push(enqueue(3))
    await time.advance(49)
    assert.deepEqual(seen(), [[1]])
    await time.advance(1)
    assert.deepEqual(seen(), [[1], [2, 3]])
    for (const { end } of batches) await end()
    assert.deepEqual(await Promise.all(results), ['1', '2', '3'])
  })

  test('begins no batch beside another while there is no room for it', async () => {
    let looks = 0
    const isFree = () => {
      looks += 1
      return looks > 2
    }
    using time = takeTime()
    const { enqueue, batches, seen } = openTested({ beside: { afterMs: 1, isFree } })
    const results = [enqueue(1)]
    await turn()
    results.push(enqueue(2))
    await turn()
    await time.advance(3)
    assert.equal(looks, 3)
    assert.deepEqual(seen(), [[1], [2]])
    for (const { end } of batches) await end()
    assert.deepEqual(await Promise.all(results), ['1', '2'])
  })

  test('runs a request alone if it is heavier than a batch may be', async () => {
    const { enqueue, batches, seen } = openTested()
    const results = [enqueue(50), enqueue(1)]
    await turn()
    assert.deepEqual(seen(), [[50], [1]])
    for (const { end } of batches) await end()
    assert.deepEqual(await Promise.all(results), ['50', '1'])
  })

  test('rejects the requests of a batch that fails, and no others', async () => {
    const { enqueue, batches } = openTested()
    const first = enqueue(1)
    await turn()
    const second = enqueue(2)
    await turn()
    const rejected = assert.rejects(first, /lost/)
    await batches[0]?.end(new Error('lost'))
    await rejected
    await batches[1]?.end()
    assert.equal(await second, '2')
  })

  test('rejects a request at once if too many wait', async () => {
    const { enqueue, batches } = openTested({ waitingMax: 2 })
    const results = [enqueue(1), enqueue(2)]
    await assert.rejects(enqueue(3), unavailable(/too many records wait/))
    await turn()
    await batches[0]?.end()
    assert.deepEqual(await Promise.all(results), ['1', '2'])
  })

  test('rejects a request that waited too long, and runs the others without it', async () => {
    using time = takeTime()
    const { enqueue, batches, seen } = openTested({ runningMax: 1, waitMs: 50 })
    const first = enqueue(1)
    await turn()
    const late = assert.rejects(enqueue(2), unavailable(/records waited too long/))
    await time.advance(51)
    const third = enqueue(3)
    await batches[0]?.end()
    await late
    assert.deepEqual(seen(), [[1], [3]])
    await batches[1]?.end()
    assert.deepEqual(await Promise.all([first, third]), ['1', '3'])
  })
})
