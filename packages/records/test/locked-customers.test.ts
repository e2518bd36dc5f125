import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed, systemTime } from '@bursar/base'
import { settlesAfter } from '../../../test/support/settles-after.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { openLockedCustomers, type RunBatch } from '../src/merge/locked-customers.ts'
import type { PutOutcome, SealedPut } from '../src/records/put.ts'
import { CustomersLocked } from '../src/unavailable.ts'

/** Requests whose customers another writer has locked. */

const stored = { outcome: 'added' } as unknown as PutOutcome

type Locked = ReturnType<ReturnType<typeof openLockedCustomers>>

/** A request of a customer, which has come some time ago. */
function add(locked: Locked, customerId: string, agoMs = 0) {
  const result = Promise.withResolvers<PutOutcome>()
  result.promise.catch(() => {})
  const request = { record: { id: customerId, customerId } } as unknown as SealedPut
  locked.add({ request, requestedAt: systemTime.elapsedMs() - agoMs, result })
  return result.promise
}

const leftForLater: RunBatch = async (batch) => batch.map(() => 'later' as const)

describe('a request of a locked customer', () => {
  test('is tried again after a pause', async () => {
    using time = takeTime()
    let runs = 0
    const locked = openLockedCustomers()(async (batch, options) => {
      runs += 1
      return runs === 1 ? await leftForLater(batch, options) : batch.map(() => stored)
    })
    const settled = add(locked, 'acme')
    assert.equal(await settlesAfter(time, limitNamed('lockedRetryMs'), settled), stored)
    assert.equal(runs, 2)
  })

  test('is refused in time to answer', async () => {
    using time = takeTime()
    const leftMs = 5 * limitNamed('lockedRetryMs')
    const agoMs = limitNamed('recordPutMs') - 2 * limitNamed('lockedPutMs') - leftMs
    const settled = add(openLockedCustomers()(leftForLater), 'acme', agoMs)
    const refused = settlesAfter(time, leftMs, settled, 2 * limitNamed('lockedRetryMs'))
    await assert.rejects(refused, CustomersLocked)
  })

  test('waits for its turn, and is refused if none comes', async () => {
    using time = takeTime()
    const endless = Promise.withResolvers<never>()
    const served: string[] = []
    const locked = openLockedCustomers()((batch) => {
      served.push(...batch.map(({ record }) => record.customerId))
      return endless.promise
    })
    const held = Array.from(
      { length: limitNamed('lockedCustomersAwaitedMax') },
      (_, at) => `held ${at}`,
    )
    for (const customer of held) void add(locked, customer)
    const settled = add(locked, 'last')
    await time.advance(limitNamed('putCustomerMs'))
    assert.deepEqual(served, held)
    await time.advance(limitNamed('recordPutMs') - limitNamed('putCustomerMs'))
    await assert.rejects(settled, CustomersLocked)
    assert.deepEqual(served, held)
  })
})
