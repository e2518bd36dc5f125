import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setLimits } from '../../../test/support/set-limits.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { limitNamed } from '../src/declare-limits.ts'
import { openTimeSlices, paceOf } from '../src/time-slices.ts'

describe('works that share the event loop', () => {
  test('run one in each turn, so that requests have theirs between any two', async (t) => {
    setLimits(t, { timeSliceMs: 0 })
    const slices = openTimeSlices()
    const turns: string[] = []
    let isOver = false
    const requests = () => {
      turns.push('request')
      if (!isOver) setImmediate(requests)
    }
    setImmediate(requests)
    const work = async (name: string) => {
      for (let step = 0; step < 5; step += 1) {
        await slices.next()
        turns.push(name)
      }
    }
    await Promise.all([work('a'), work('b')])
    isOver = true
    const steps = turns.map((turn, at) => turn !== 'request' && turns[at - 1] !== 'request')
    assert.ok(!steps.includes(true), `two steps in one turn: ${turns.join(' ')}`)
    assert.equal(turns.filter((turn) => turn === 'a').length, 5)
  })

  test('go on without a pause while their slice lasts', async () => {
    using time = takeTime()
    const slices = openTimeSlices()
    await slices.next()
    await time.advance(limitNamed('timeSliceMs') - 1)
    assert.equal(slices.next(), undefined)
    await time.advance(1)
    assert.ok(slices.next() instanceof Promise)
  })

  test('end with the reason of their signal', () => {
    const left = new AbortController()
    const pace = paceOf(openTimeSlices(), left.signal)
    left.abort(new Error('left'))
    assert.throws(pace, { message: 'left' })
  })
})
