import assert from 'node:assert/strict'
import { untilHolds } from './until.ts'
import type { VirtualTime } from './virtual-time.ts'

/**
 * Proves that work goes on until so much virtual time has passed, and settles then or within the
 * pause between two of its looks. Settles as the work does.
 */
export async function settlesAfter<T>(
  time: VirtualTime,
  ms: number,
  work: Promise<T>,
  pauseMs = 1,
): Promise<T> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  work.then(settle, settle)
  // So that the work has read the time at which it begins.
  await time.advance(0)
  await time.advance(ms - 1)
  assert.equal(isSettled, false, `it has settled before ${ms} ms`)
  await time.advance(pauseMs)
  await untilHolds(`it settles in ${ms - 1 + pauseMs} ms`, () => isSettled)
  return await work
}
