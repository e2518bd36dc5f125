import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@bursar/contract'
import type { Statement } from '@bursar/records'
import { resourceOf } from '../../../test/support/record-store.ts'
import { anId } from '../../../test/support/records.ts'
import { listedBodies } from '../../records/src/across/across-records.ts'
import { nextPlace, placesByTerm, placesInOrder } from '../../records/src/across/places.ts'
import { aSelection, aTermSelection } from '../../records/test/support/across-selection.ts'
import { describePlans } from '../../records/test/support/postgres-plans.ts'
import { dialect } from '../src/dialect.ts'

const plans = describePlans()

/** The indexes that a plan scans, one for each range. It sorts only what several have found. */
async function scansOf(statement: Statement): Promise<readonly string[]> {
  const text = (await plans.explain(statement)).join('\n')
  const scans = [...text.matchAll(/Index (?:Only )?Scan (?:Backward )?using (\w+)/g)].map(
    ([, index = '']) => index,
  )
  const ranges = scans.filter((index) => index !== 'customer_id_key')
  assert.doesNotMatch(text, /Seq Scan|Bitmap/, text)
  const sorts = [...text.matchAll(/-> +(Incremental )?Sort\b(?! Key)|^ *Sort$/gm)]
  if (ranges.length === 1) assert.deepEqual(sorts, [], text)
  return ranges
}

test('a list of all customers reads one range for each status, in its order', async () => {
  for (const resource of resources) {
    const { table, statuses } = resource
    for (const order of ['ASC', 'DESC'] as const) {
      const selection = { ...aSelection, order }
      const ranges = await scansOf(placesInOrder(resource, selection, 101, dialect))
      const expected = Array.from({ length: Math.max(1, statuses.length) }, () => `${table}_of_all`)
      assert.deepEqual(ranges, expected)
      const own = { ...selection, customerId: 'acme' }
      const ofCustomer = await scansOf(placesInOrder(resource, own, 101, dialect))
      assert.deepEqual(ofCustomer, [`${table}_pkey`])
      if (statuses.length === 0) continue
      const ofStatus = placesInOrder(resource, { ...own, status: 'X' }, 101, dialect)
      assert.deepEqual(await scansOf(ofStatus), [`${table}_by_status`])
    }
  }
})

test('a list in the order of a term reads one range for each status', async () => {
  const resource = resourceOf('statements')
  for (const over of [{}, { order: 'ASC' as const }, { customerId: 'acme' }]) {
    const ranges = await scansOf(
      placesByTerm(resource, { ...aTermSelection, ...over }, 101, dialect),
    )
    assert.deepEqual(
      ranges,
      resource.statuses.map(() => 'record_term_pkey'),
    )
  }
})

test('the next asset with shortfalls is one step of the table', async () => {
  for (const customerId of [undefined, 'acme']) {
    const asked = { term: 'short PAID', customerId, after: 'USDG :' }
    const ranges = await scansOf(nextPlace(resourceOf('statements'), asked, dialect))
    assert.deepEqual(ranges, ['record_term_pkey'])
  }
})

test('the bodies of a list are found by their ids', async () => {
  for (const resource of resources) {
    const values = [`{${anId(1)}}`]
    const ranges = await scansOf({ text: listedBodies(resource, dialect), values })
    assert.ok(ranges.includes(`${resource.table}_identity`), ranges.join())
  }
})
