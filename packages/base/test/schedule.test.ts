import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { repeat, throttle } from '../src/schedule.ts'

describe('a task that repeats', () => {
  test('rests as long as its run has said, and runs once for all that ask meanwhile', async () => {
    using time = takeTime()
    const ends: (() => void)[] = []
    const run = () => new Promise<number>((resolve) => ends.push(() => resolve(1000 * ends.length)))
    const repeater = repeat(run, 500)
    await time.advance(499)
    assert.equal(ends.length, 0)
    await time.advance(1)
    assert.equal(ends.length, 1)
    // Both wait for one run after the current one.
    const asked = [repeater.runSoon(), repeater.runSoon()]
    ends[0]?.()
    await time.advance(0)
    assert.equal(ends.length, 2)
    ends[1]?.()
    await Promise.all(asked)
    await time.advance(1999)
    assert.equal(ends.length, 2)
    await time.advance(1)
    assert.equal(ends.length, 3)
    repeater.stop()
    ends[2]?.()
    await time.advance(60_000)
    assert.deepEqual([ends.length, time.waiting()], [3, 0])
  })
})

describe('a task that is throttled', () => {
  test('runs at once, and once more at the end of the pause for all calls in it', async () => {
    using time = takeTime()
    let runs = 0
    const { run, stop } = throttle(() => {
      runs += 1
    }, 100)
    for (let call = 0; call < 5; call += 1) run()
    assert.equal(runs, 1)
    await time.advance(99)
    assert.equal(runs, 1)
    await time.advance(1)
    assert.equal(runs, 2)
    await time.advance(100)
    assert.equal(runs, 2)
    run()
    run()
    stop()
    await time.advance(100)
    assert.deepEqual([runs, time.waiting()], [3, 0])
  })
})
