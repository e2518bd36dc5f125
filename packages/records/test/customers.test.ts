import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeStore } from '../../../test/support/describe-store.ts'
import { aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'

const tested = describeStore()

const customers = async () =>
  (await tested.ask('select id from bursar.customer order by number')).flat()

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
