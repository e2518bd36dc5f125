import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemTime as clientTime } from '../../../sdk/src/system-time.ts'
import { until } from '../../../test/support/until.ts'
import { openVirtualTime, takeTime } from '../../../test/support/virtual-time.ts'
import { systemTime } from '../src/time.ts'

describe('virtual time', () => {
  test('runs what is due in the order of its time, and no more', async () => {
    const time = openVirtualTime()
    const ran: string[] = []
    time.after(20, () => ran.push(`second at ${time.elapsedMs()}`))
    time.after(10, () => {
      ran.push(`first at ${time.elapsedMs()}`)
      time.after(5, () => ran.push(`begun later at ${time.elapsedMs()}`))
    })
    const cancel = time.after(15, () => ran.push('cancelled'))
    cancel()
    time.after(21, () => ran.push('not yet'))
    await time.advance(20)
    assert.deepEqual(ran, ['first at 10', 'begun later at 15', 'second at 20'])
    assert.equal(time.waiting(), 1)
  })

  test('repeats until it is cancelled', async () => {
    const time = openVirtualTime()
    let runs = 0
    const cancel = time.every(10, () => {
      runs += 1
    })
    await time.advance(35)
    cancel()
    await time.advance(100)
    assert.equal(runs, 3)
  })

  test('ends a pause at its time, or with the reason of its signal', async () => {
    const time = openVirtualTime()
    const ended: string[] = []
    const leaving = new AbortController()
    void time.pause(30).then(() => ended.push('paused'))
    const aborted = assert.rejects(time.pause(30, leaving.signal), /gone/)
    await time.advance(29)
    assert.deepEqual(ended, [])
    leaving.abort(new Error('gone'))
    await aborted
    await time.advance(1)
    assert.deepEqual([ended, time.waiting()], [['paused'], 0])
  })

  test('aborts a deadline, and leaves no timer of one that has ended', async () => {
    const time = openVirtualTime()
    const [late, done] = [time.deadline(10), time.deadline(10)]
    const parent = new AbortController()
    const child = time.deadline(100, parent.signal)
    done[Symbol.dispose]()
    await time.advance(10)
    assert.deepEqual([late.signal.aborted, done.signal.aborted], [true, false])
    assert.equal(late.signal.reason.name, 'TimeoutError')
    parent.abort()
    assert.equal(child.signal.aborted, true)
    child[Symbol.dispose]()
    assert.equal(time.waiting(), 0)
  })

  test('moves the wall clock without a change of any duration', async () => {
    const time = openVirtualTime(0n)
    let isOver = false
    time.after(1000, () => {
      isOver = true
    })
    time.jump(-3_600_000_000n)
    await time.advance(999)
    assert.deepEqual([isOver, time.now()], [false, 999_000n - 3_600_000_000n])
    await time.advance(1)
    assert.equal(isOver, true)
  })

  test('takes the place of the machine for the client too, with the same clocks', async () => {
    const { wallMs } = clientTime
    const before = clientTime.elapsedMs()
    {
      using time = takeTime()
      let isOver = false
      clientTime.after(1000, () => {
        isOver = true
      })
      await time.advance(999)
      time.jump(5_000_000n)
      assert.equal(isOver, false)
      await time.advance(1)
      assert.equal(isOver, true)
      assert.equal(clientTime.wallMs(), Number(systemTime.now() / 1000n))
      assert.equal(clientTime.elapsedMs(), systemTime.elapsedMs())
    }
    assert.equal(clientTime.wallMs, wallMs)
    assert.ok(clientTime.elapsedMs() >= before + 1000, 'a duration went back')
  })

  test('takes the place of the machine, and hands back what still waits', async () => {
    const ran: string[] = []
    const before = systemTime.elapsedMs()
    let cancel = () => {}
    {
      using time = takeTime()
      systemTime.after(1000, () => ran.push('in an instant'))
      systemTime.after(60_010, () => ran.push('after real time'))
      cancel = systemTime.after(60_000, () => ran.push('cancelled'))
      await time.advance(59_999)
      assert.deepEqual(ran, ['in an instant'])
    }
    cancel()
    assert.ok(systemTime.elapsedMs() >= before + 59_999, 'a duration went back')
    await until(() => ran.length === 2)
    assert.deepEqual(ran, ['in an instant', 'after real time'])
  })
})
