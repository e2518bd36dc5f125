import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeTime } from '../../../test/support/virtual-time.ts'
import type { Customers } from '../src/control/control-customers.ts'
import { openFaults } from '../src/control/control-faults.ts'

test('a delay ends when the sandbox closes', async () => {
  const faults = openFaults({} as Customers)
  const fault = { id: 'one', customerId: 'acme', operation: undefined, kind: 'delay' } as const
  const rest = { status: undefined, retryAfter: undefined, times: 1, remaining: 1 }
  faults.restore([{ ...fault, ...rest, delayMs: 1000 }])
  using time = takeTime()
  const delayed = faults.interfere('listFiatAccounts', 'acme', {})
  await time.advance(999)
  assert.equal(time.waiting(), 1)
  faults.close()
  await assert.rejects(async () => await delayed, { detail: 'the sandbox is closing' })
  assert.equal(time.waiting(), 0)
})
