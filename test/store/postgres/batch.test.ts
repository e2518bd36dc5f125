import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { limits } from '../../../src/platform/limits.ts'
import { type Gathered, openGather } from '../../../src/store/postgres/cluster/batch.ts'

/** Runs nothing by itself: each batch is answered when the test says so. A number asks for so many rows. */
function openTested({ statementsMax = 2, rowsMax = 10, waitingMax = 100 } = {}) {
  const batches: { rows: readonly number[]; done: (error?: Error) => Promise<void> }[] = []
  const ask = openGather<number, string>({
    rowsOf: (rows) => rows,
    rowsMax,
    statementsMax,
    waitingMax,
    run: (batch: readonly Gathered<number, string>[]) => {
      const end = Promise.withResolvers<void>()
      batches.push({
        rows: batch.map(({ asked }) => asked),
        done: async (error) => {
          if (error === undefined) for (const { asked, answer } of batch) answer.resolve(`${asked}`)
          if (error === undefined) end.resolve()
          else end.reject(error)
          await setImmediate()
          await setImmediate()
        },
      })
      return end.promise
    },
  })
  return { ask, batches, seen: () => batches.map(({ rows }) => rows) }
}

describe('look-ups that share a statement', () => {
  test('one alone goes at the end of its turn, and what came in that turn goes with it', async () => {
    const { ask, batches, seen } = openTested()
    const answers = [ask(1), ask(2), ask(3)]
    await setImmediate()
    assert.deepEqual(seen(), [[1, 2, 3]])
    await batches[0]?.done()
    assert.deepEqual(await Promise.all(answers), ['1', '2', '3'])
  })

  test('gather while the statements are under way, and go when one is done', async () => {
    const { ask, batches, seen } = openTested()
    const answers: Promise<string>[] = []
    for (const rows of [1, 2, 3, 4]) {
      answers.push(ask(rows))
      await setImmediate()
    }
    assert.deepEqual(seen(), [[1], [2]])
    await batches[1]?.done()
    assert.deepEqual(seen(), [[1], [2], [3, 4]])
    await batches[0]?.done()
    await batches[2]?.done()
    assert.deepEqual(await Promise.all(answers), ['1', '2', '3', '4'])
  })

  test('a full batch goes though the statements are under way', async () => {
    const { ask, batches, seen } = openTested({ statementsMax: 1 })
    const answers = [ask(1)]
    await setImmediate()
    answers.push(ask(4), ask(4))
    await setImmediate()
    assert.deepEqual(seen(), [[1]])
    answers.push(ask(4))
    await setImmediate()
    assert.deepEqual(seen(), [[1], [4, 4]])
    await batches[1]?.done()
    await batches[0]?.done()
    await batches[2]?.done()
    assert.equal((await Promise.all(answers)).length, 4)
  })

  test('one that is heavier than a batch may be goes alone', async () => {
    const { ask, batches, seen } = openTested()
    const answers = [ask(50), ask(1)]
    await setImmediate()
    assert.deepEqual(seen(), [[50], [1]])
    for (const { done } of batches) await done()
    assert.deepEqual(await Promise.all(answers), ['50', '1'])
  })

  test('a statement that fails is the failure of those in it and of no other', async () => {
    const { ask, batches } = openTested()
    const first = ask(1)
    await setImmediate()
    const second = ask(2)
    await setImmediate()
    const refused = assert.rejects(first, /lost/)
    await batches[0]?.done(new Error('lost'))
    await refused
    await batches[1]?.done()
    assert.equal(await second, '2')
  })

  test('more than may wait are refused at once', async () => {
    const { ask, batches } = openTested({ waitingMax: 2 })
    const answers = [ask(1), ask(2)]
    await assert.rejects(ask(3), { name: 'StoreUnavailable' })
    await setImmediate()
    await batches[0]?.done()
    assert.deepEqual(await Promise.all(answers), ['1', '2'])
  })

  test('one that has waited too long is refused and takes nobody with it', async () => {
    const { ask, batches, seen } = openTested({ statementsMax: 1 })
    const first = ask(1)
    await setImmediate()
    const late = assert.rejects(ask(2), { name: 'StoreUnavailable' })
    await setTimeout(limits.databaseWaitMs + 50)
    const third = ask(3)
    await batches[0]?.done()
    await late
    assert.deepEqual(seen(), [[1], [3]])
    await batches[1]?.done()
    assert.deepEqual(await Promise.all([first, third]), ['1', '3'])
  })
})
