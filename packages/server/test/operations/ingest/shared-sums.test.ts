import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import { until } from '../../../../../test/support/until.ts'
import { takeTime } from '../../../../../test/support/virtual-time.ts'
import { shareSums } from '../../../src/works/overview/shared-sums.ts'

const all = { boundTo: null, customerId: undefined }
const staff = { boundTo: 'beryl', customerId: 'beryl' }
const unbound = { boundTo: null, customerId: 'beryl' }

/** Sums that end when the test says so. */
function heldSums() {
  const begun: { of: string | undefined; end: (failure?: Error) => void }[] = []
  const sum = shareSums((of) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const number = begun.length
    begun.push({ of, end: (failure) => (failure ? reject(failure) : resolve(number)) })
    return promise
  })
  return { sum, begun }
}

describe('a sum that callers share', () => {
  test('is computed once at a time for each set of customers, and for no other set', async () => {
    const { sum, begun } = heldSums()
    const asked = [all, staff, all, unbound, staff, unbound].map(sum)
    await until(() => begun.length === 2)
    assert.deepEqual(
      begun.map(({ of }) => of),
      [undefined, 'beryl'],
    )
    for (const { end } of begun) end()
    // An unbound caller that names a customer waits for the sum of its own set.
    await until(() => begun.length === 3)
    begun[2]?.end()
    assert.deepEqual(await Promise.all(asked), [0, 1, 0, 2, 1, 2])
  })

  test('is as old as it may be, from its beginning, and no older', async () => {
    using time = takeTime()
    const { sum, begun } = heldSums()
    const first = sum(all)
    await until(() => begun.length === 1)
    time.pass(1000)
    begun[0]?.end()
    await first
    time.pass(limitNamed('sharedSumAgeMs') - 1001)
    assert.equal(await sum(all), 0)
    time.pass(1)
    const later = sum(all)
    await until(() => begun.length === 2)
    begun[1]?.end()
    assert.equal(await later, 1)
  })

  test('answers its failure to those who wait, and is computed again', async () => {
    const { sum, begun } = heldSums()
    const failed = Promise.allSettled([sum(all), sum(all)])
    await until(() => begun.length === 1)
    begun[0]?.end(new Error('no store'))
    assert.deepEqual(
      (await failed).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    const later = sum(all)
    await until(() => begun.length === 2)
    begun[1]?.end()
    assert.equal(await later, 1)
  })

  test('is forgotten where many others were computed since', async () => {
    let computed = 0
    const sum = shareSums(async () => (computed += 1))
    const sums = limitNamed('sharedSumsMax') * 2
    for (let at = 0; at < sums; at += 1) await sum({ boundTo: null, customerId: String(at) })
    await sum({ boundTo: null, customerId: '0' })
    assert.equal(computed, sums + 1)
  })
})
