import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { openTestStore, resourceOf, type TestStore } from '../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'

let tested: TestStore

before(async () => {
  tested = await openTestStore()
})
after(() => tested.close())

test('a read that names a customer reads nothing of another customer’s record', async () => {
  const resource = resourceOf('fiat-accounts')
  const { operator } = tested.store
  await tested.take('fiat-accounts', [aFiatAccount({ id: anId(1), customer_id: 'globex' })])
  await tested.ask(`update bursar.fiat_account_full set body = '{}' where id = '${anId(1)}'`)
  const reads = (customerId: string | undefined) => {
    const name = { id: anId(1), customerId }
    const part = { after: undefined, versionsMax: 10 }
    return Promise.allSettled([
      operator.find(resource, name),
      operator.findAsOf(resource, name, 4_000_000_000_000_000n),
      operator.history(resource, name, part),
    ])
  }
  const unknown = { status: 'fulfilled', value: undefined }
  assert.deepEqual(await reads('acme'), [unknown, unknown, unknown])
  // A read of the damaged record fails, which shows that none has happened above.
  assert.deepEqual(
    (await reads('globex')).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
})
