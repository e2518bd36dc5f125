import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRequestMinutes } from '../src/request-minutes.ts'

const MINUTE = 60_000_000n

test('the last hour has each minute since the first request, and no older one', () => {
  let now = 1_000_000n * MINUTE + 5n
  const { note, read } = openRequestMinutes(() => now)
  assert.deepEqual(read(), [])
  note(false)
  note(true)
  now += 2n * MINUTE
  note(false)
  const at = (minutes: bigint) => (1_000_000n + minutes) * MINUTE
  assert.deepEqual(read(), [
    { at: at(0n), count: 2, failed: 1 },
    { at: at(1n), count: 0, failed: 0 },
    { at: at(2n), count: 1, failed: 0 },
  ])
  now += 60n * MINUTE
  note(true)
  const hour = read()
  assert.equal(hour.length, 60)
  assert.deepEqual(hour[0], { at: at(3n), count: 0, failed: 0 })
  assert.deepEqual(hour.at(-1), { at: at(62n), count: 1, failed: 1 })
  now += 1000n * MINUTE
  assert.ok(read().every(({ count }) => count === 0))
})
