import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asTenant } from '@bursar/contract'
import { describeStore } from '../../../test/support/describe-store.ts'
import { aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'

const tested = describeStore()

const customers = async () =>
  (await tested.ask('select id from bursar.customer order by number')).flat()

/** The ids that the first page of a customer has. */
async function pageOf(customerId: string): Promise<string[]> {
  const tenant = asTenant(customerId)
  const { items } = await tested.store.customers.page(tenant, fiatAccount.brief, firstPage)
  return JSON.parse(`[${Buffer.from(items)}]`).map(({ id }: { readonly id: string }) => id)
}

test('imports of two kinds that add the same customers at a time both succeed', async () => {
  const at = Array.from({ length: 40 }, (_, number) => number)
  const ofCustomer = (number: number) => ({
    id: anId(number + 1),
    customer_id: `new-${number}`,
    ref_id: `r-${number}`,
  })
  const reports = await Promise.all([
    tested.take('fiat-accounts', at.map(ofCustomer).map(aFiatAccount)),
    tested.take('statements', at.toReversed().map(ofCustomer).map(aStatement)),
  ])
  assert.deepEqual(
    reports.map(({ added, faultCount }) => [added, faultCount]),
    [
      [40, 0],
      [40, 0],
    ],
  )
  assert.equal((await customers()).length, 40)
})

test('a dry run and an import that is refused add no customer', async () => {
  await tested.take('fiat-accounts', [aFiatAccount({ customer_id: 'first' })])
  await tested.take('statements', [aStatement({ customer_id: 'dry' })], { dryRun: true })
  const held = aFiatAccount({ customer_id: 'refused' })
  const { faultCount } = await tested.take('fiat-accounts', [held])
  assert.equal(faultCount, 1)
  assert.deepEqual(await customers(), ['first'])
})

test('a number that a restored backup gives to another customer is that of the other one', async () => {
  const accounts = ['acme', 'borealis'].map((customer_id, at) =>
    aFiatAccount({ id: anId(at + 1), customer_id }),
  )
  await tested.take('fiat-accounts', accounts)
  assert.deepEqual(await pageOf('acme'), [anId(1)])
  assert.deepEqual(await pageOf('borealis'), [anId(2)])
  await tested.ask(`update bursar.customer set id = 'exchanged' where id = 'acme'`)
  await tested.ask(`update bursar.customer set id = 'acme' where id = 'borealis'`)
  await tested.ask(`update bursar.customer set id = 'borealis' where id = 'exchanged'`)
  assert.deepEqual(await pageOf('acme'), [anId(2)])
  assert.deepEqual(await pageOf('borealis'), [anId(1)])
  assert.deepEqual(await pageOf('exchanged'), [])
})
