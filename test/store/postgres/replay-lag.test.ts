import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openReplayLag } from '../../../src/store/postgres/cluster/replay-lag.ts'

test('the lag of a standby is the age of the newest position that it has replayed', () => {
  const lag = openReplayLag(10_000)
  lag.sawPrimary(100n, 1000)
  lag.sawPrimary(200n, 1500)
  lag.sawPrimary(300n, 2000)
  assert.equal(lag.of(300n, 2400), 0)
  assert.equal(lag.of(250n, 2400), 900)
  assert.equal(lag.of(100n, 2400), 1400)
  assert.equal(lag.of(99n, 2400), Number.POSITIVE_INFINITY)
})

test('a standby of an idle primary has no lag', () => {
  const lag = openReplayLag(10_000)
  for (let at = 0; at < 100; at += 1) lag.sawPrimary(500n, at * 500)
  assert.equal(lag.of(500n, 49_500), 0)
})

test('a standby behind the oldest sample has infinite lag', () => {
  const lag = openReplayLag(1000)
  lag.sawPrimary(100n, 0)
  lag.sawPrimary(200n, 2000)
  assert.equal(lag.of(150n, 2000), Number.POSITIVE_INFINITY)
})

test('the lag is infinite before the first sample, and after a promotion', () => {
  const lag = openReplayLag(1000)
  assert.equal(lag.of(1n, 0), Number.POSITIVE_INFINITY)
  lag.sawPrimary(1n, 0)
  lag.forget()
  assert.equal(lag.of(1n, 0), Number.POSITIVE_INFINITY)
})
