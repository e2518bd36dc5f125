import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openMovableClock, systemTime } from '@bursar/base'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { accountIds, describeSandbox, ndjson } from '../../../test/support/sandbox-control.ts'
import type { SampleCustomer } from '../src/sample-records.ts'

/** The clock stands still, so that every change has the same time. */
const now = systemTime.now()
const sandbox = describeSandbox({ clock: openMovableClock(() => now) })

const put = (customerId: string, at: number) => {
  const record = aFiatAccount({ id: anId(at), customer_id: customerId, ref_id: `ref-${at}` })
  const path = `/sandbox/records/fiat-accounts?customer_id=${customerId}`
  return sandbox.control('PUT', path, ndjson(record))
}

/** The second of three requests has the page kept, the third is answered from memory. */
async function idsOf(as: SampleCustomer) {
  for (const _time of [1, 2]) await sandbox.call('/v2/transfer/fiat-accounts', { as })
  return accountIds(await sandbox.call('/v2/transfer/fiat-accounts', { as }))
}

describe('a page that is kept', () => {
  test('is not that of a customer who was removed and created again', async () => {
    for (const at of [1, 2, 3]) {
      const customer = await sandbox.customer({ seed: 'again' })
      await put(customer.customerId, at)
      assert.deepEqual(await idsOf(customer), [anId(at)])
      await sandbox.control('DELETE', `/sandbox/customers/${customer.customerId}`)
    }
  })

  test('is not one from before a snapshot was restored', async () => {
    const { id } = (await sandbox.control('POST', '/sandbox/snapshots')).body
    for (const at of [11, 12, 13]) {
      const customer = await sandbox.customer({ seed: 'restored' })
      await put(customer.customerId, at)
      assert.deepEqual(await idsOf(customer), [anId(at)])
      await sandbox.control('POST', `/sandbox/snapshots/${id}/restore`)
    }
  })

  test('follows each record that is put and removed', async () => {
    const customer = await sandbox.customer()
    for (const at of [21, 22]) {
      await put(customer.customerId, at)
      assert.ok((await idsOf(customer)).includes(anId(at)))
    }
    await sandbox.control('DELETE', `/sandbox/records/fiat-accounts/${anId(21)}`)
    assert.deepEqual(await idsOf(customer), [anId(22)])
  })
})
