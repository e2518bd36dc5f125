import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { settlesAfter } from '../../../../test/support/settles-after.ts'
import { takeTime } from '../../../../test/support/virtual-time.ts'
import { type GateBounds, openStreamGate } from '../../src/requests/stream-gate.ts'

const never = new AbortController().signal

/** A gate, and streams that run until they are ended. */
function openStreams(bounds: Partial<GateBounds> = {}) {
  const gate = openStreamGate({
    streamsMax: limitNamed('streamsMax'),
    streamsPerClientMax: limitNamed('streamsPerClientMax'),
    streamsHeldMax: limitNamed('streamsHeldMax'),
    streamsHeldPerClientMax: limitNamed('streamsHeldPerClientMax'),
    streamWaitMs: limitNamed('streamWaitMs'),
    ...bounds,
  })
  const running: string[] = []
  const ends = new Map<string, () => void>()
  return {
    running,
    start: (clientId: string, name: string, signal = never): Promise<string> => {
      const store = async () => {
        running.push(name)
        const { promise, resolve } = Promise.withResolvers<void>()
        ends.set(name, resolve)
        await promise
        running.splice(running.indexOf(name), 1)
        return name
      }
      const stored = gate.hold(clientId, () => gate.store(clientId, signal, store))
      // A test that expects the refusal awaits it later.
      stored.catch(() => {})
      return stored
    },
    end: async (name: string): Promise<void> => {
      ends.get(name)?.()
      await settled()
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

const statusOf = (stored: Promise<unknown>): Promise<unknown> =>
  stored.then(
    () => 'stored',
    (error: unknown) => (error as { status?: unknown }).status ?? error,
  )

describe('streams that wait for their turn', () => {
  test('of one client never take more than half of the slots', async () => {
    const { start, running } = openStreams()
    for (let at = 0; at < 8; at += 1) void start('dripping', `drip ${at}`)
    void start('operator', 'own')
    await settled()
    assert.deepEqual(running, ['drip 0', 'drip 1', 'own'])
    assert.equal(limitNamed('streamsPerClientMax') * 2, limitNamed('streamsMax'))
  })

  test('are admitted one client after the other', async () => {
    const { start, end, running } = openStreams({ streamsMax: 1, streamsPerClientMax: 1 })
    void start('first', 'running')
    for (const name of ['a1', 'a2', 'a3']) void start('a', name)
    for (const name of ['b1', 'b2']) void start('b', name)
    const order: string[] = []
    for (let name = 'running'; order.length < 5; ) {
      await end(name)
      name = running[0] ?? 'none'
      order.push(name)
    }
    assert.deepEqual(order, ['a1', 'b1', 'a2', 'b2', 'a3'])
  })

  test('are bounded for each client with 429, and for all with 503', async () => {
    const { start, end, running } = openStreams({
      streamsMax: 1,
      streamsHeldMax: 4,
      streamsPerClientMax: 1,
    })
    void start('a', 'running')
    for (let at = 0; at < 3; at += 1) void start('a', `a${at}`)
    assert.equal(await statusOf(start('b', 'b')), 503)
    await end('running')
    void start('b', 'b')
    for (const name of ['a0', 'a1']) await end(name)
    assert.deepEqual(running, ['b'])
    const narrow = openStreams({ streamsPerClientMax: 1, streamsHeldPerClientMax: 2 })
    void narrow.start('a', 'running')
    void narrow.start('a', 'waiting')
    assert.equal(await statusOf(narrow.start('a', 'too many')), 429)
  })

  test('get 503 after a while, and make room for others', async () => {
    using time = takeTime()
    const { start, end, running } = openStreams({ streamsPerClientMax: 1, streamWaitMs: 60_000 })
    void start('a', 'running')
    assert.equal(await settlesAfter(time, 60_000, statusOf(start('a', 'late'))), 503)
    await end('running')
    assert.deepEqual([running, time.waiting()], [[], 0])
  })

  test('end when their client leaves', async () => {
    using time = takeTime()
    const { start, end, running } = openStreams({ streamsPerClientMax: 1 })
    const left = new AbortController()
    void start('a', 'running')
    const gone = start('a', 'gone', left.signal)
    void start('a', 'next')
    left.abort('left')
    assert.equal(await statusOf(gone), 'left')
    await end('running')
    assert.deepEqual([running, time.waiting()], [['next'], 0])
  })
})
