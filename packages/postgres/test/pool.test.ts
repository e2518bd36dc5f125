import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { StoreUnavailable } from '@bursar/records'
import { settlesAfter } from '../../../test/support/settles-after.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { fakeSessions } from '../../records/test/support/fake-sessions.ts'
import { openPool } from '../src/cluster/pool.ts'

const bounds = { connectionsMax: 2, waitingMax: 3, waitMs: 50, withinMs: 100 }

const isUnavailable = (error: unknown): boolean => error instanceof StoreUnavailable

describe('a pool of sessions', () => {
  test('opens sessions as needed, reuses them, and never exceeds its maximum', async () => {
    const { opened, open } = fakeSessions()
    const pool = openPool({ ...bounds, open })
    await pool.run(async () => {})
    await pool.run(async () => {})
    assert.equal(opened.length, 1)
    const gate = Promise.withResolvers<void>()
    const busy = [1, 2, 3].map(() => pool.run(() => gate.promise, 5000))
    await Promise.resolve()
    assert.equal(opened.length, 2)
    gate.resolve()
    await Promise.all(busy)
  })

  test('subtracts the time that was waited elsewhere from the wait for a session', async () => {
    const { open } = fakeSessions()
    using time = takeTime()
    const pool = openPool({ ...bounds, open, waitMs: 60_000 })
    const gate = Promise.withResolvers<void>()
    const busy = [1, 2].map(() => pool.run(() => gate.promise, 5000))
    const late = pool.run(async () => {}, 5000, 59_990)
    await assert.rejects(settlesAfter(time, 10, late), isUnavailable)
    gate.resolve()
    await Promise.all(busy)
    // An idle session is taken at once, however long the request has waited elsewhere.
    assert.equal(await pool.run(async () => 'read', 5000, 70_000), 'read')
  })

  test('opens no session for a request whose time is over', async () => {
    const { opened, open } = fakeSessions()
    const pool = openPool({ ...bounds, open })
    for (const withinMs of [0, -30]) {
      await assert.rejects(
        pool.run(async () => {}, withinMs),
        isUnavailable,
      )
    }
    assert.equal(opened.length, 0)
  })

  test('rejects a request at once if too many wait, and a waiting one when its time is up', async () => {
    const { open } = fakeSessions()
    using time = takeTime()
    const pool = openPool({ ...bounds, open })
    const gate = Promise.withResolvers<void>()
    const busy = [1, 2].map(() => pool.run(() => gate.promise, 5000))
    const waiting = [1, 2, 3].map(() => pool.run(async () => {}))
    await assert.rejects(
      pool.run(async () => {}),
      isUnavailable,
    )
    const refused = Promise.all(waiting.map((one) => assert.rejects(one, isUnavailable)))
    await settlesAfter(time, bounds.waitMs, refused)
    gate.resolve()
    await Promise.all(busy)
    await pool.run(async () => {})
  })

  test('drops a session whose server stops answering, and opens another', async () => {
    const { opened, open } = fakeSessions()
    using time = takeTime()
    const pool = openPool({ ...bounds, open })
    const silent = pool.run((connection) => connection.query({ text: 'select 1' }))
    await assert.rejects(settlesAfter(time, bounds.withinMs, silent), {
      name: 'StoreUnavailable',
      message: 'the database did not answer within 100 ms',
    })
    assert.deepEqual(opened, [{ dropped: true }])
    assert.equal(await pool.run(async () => 'answered'), 'answered')
    assert.equal(opened.length, 2)
    assert.equal(time.waiting(), 0)
  })

  test('counts the wait for a session to the time of a request', async () => {
    const { opened, open } = fakeSessions()
    using time = takeTime()
    const pool = openPool({ ...bounds, open, connectionsMax: 1 })
    const gate = Promise.withResolvers<void>()
    const busy = pool.run(() => gate.promise, Number.POSITIVE_INFINITY)
    const waiting = pool.run((connection) => connection.query({ text: 'select 1' }))
    const refused = assert.rejects(waiting, isUnavailable)
    await time.advance(bounds.waitMs - 1)
    gate.resolve()
    await busy
    await settlesAfter(time, bounds.withinMs - bounds.waitMs + 1, refused)
    assert.deepEqual(opened, [{ dropped: true }])
  })

  test('drops idle sessions at once, and sessions in use when they are returned', async () => {
    const { opened, open } = fakeSessions()
    const pool = openPool({ ...bounds, open })
    const gate = Promise.withResolvers<void>()
    const busy = pool.run(() => gate.promise, 5000)
    await pool.run(async () => {})
    pool.dropAll()
    assert.deepEqual(opened, [{ dropped: false }, { dropped: true }])
    gate.resolve()
    await busy
    assert.ok(opened.every(({ dropped }) => dropped))
    assert.equal(pool.load(), 0)
  })

  test('checks each new session once, and runs no work if the check fails', async () => {
    const { open } = fakeSessions()
    let checks = 0
    let works = 0
    const check = async () => {
      checks += 1
      if (checks === 1) throw new Error('is a standby now')
    }
    const pool = openPool({ ...bounds, open, check })
    const work = async () => {
      works += 1
    }
    await assert.rejects(pool.run(work), /is a standby now/)
    await pool.run(work)
    await pool.run(work)
    assert.deepEqual([checks, works], [2, 2])
  })

  test('waits for running work when it closes, and accepts no more', async () => {
    const { opened, open } = fakeSessions()
    const pool = openPool({ ...bounds, open })
    const gate = Promise.withResolvers<void>()
    const busy = pool.run(() => gate.promise, 5000)
    const closing = pool.close()
    await assert.rejects(
      pool.run(async () => {}),
      isUnavailable,
    )
    gate.resolve()
    await Promise.all([busy, closing])
    assert.ok(opened.every(({ dropped }) => dropped))
  })
})
