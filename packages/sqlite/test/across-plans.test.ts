import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { resources } from '@bursar/contract'
import { resourceOf } from '../../../test/support/record-store.ts'
import { listedBodies } from '../../records/src/across/across-records.ts'
import { nextPlace, placesByTerm, placesInOrder } from '../../records/src/across/places.ts'
import { aSelection, aTermSelection } from '../../records/test/support/across-selection.ts'
import { openPlans, type Plans } from '../../records/test/support/sqlite-plans.ts'
import { dialect } from '../src/dialect.ts'

let plans: Plans

before(() => {
  plans = openPlans()
})
after(() => plans.close())

/** The searches of a plan. Only what one search has found, which is bounded, may be sorted. */
function searchesOf(sql: string): readonly string[] {
  const steps = plans.explain(sql)
  const searches = steps.filter(
    (step) => step.startsWith('SEARCH ') && !/customer USING/.test(step),
  )
  const sorts = steps.filter((step) => step.includes('TEMP B-TREE'))
  const scans = steps.filter((step) => /^SCAN (?!one)/.test(step))
  assert.deepEqual(scans, [], steps.join('\n'))
  assert.equal(sorts.length, searches.length > 1 ? searches.length : 0, steps.join('\n'))
  return searches
}

test('a list of all customers reads one range for each status, in its order', () => {
  for (const resource of resources) {
    for (const order of ['ASC', 'DESC'] as const) {
      const selection = { ...aSelection, order }
      const searches = searchesOf(placesInOrder(resource, selection, 101, dialect).text)
      assert.equal(searches.length, Math.max(1, resource.statuses.length))
      for (const search of searches)
        assert.match(search, new RegExp(`INDEX ${resource.table}_of_all`))
      const own = { ...selection, customerId: 'acme' }
      const [ofCustomer = '', ...others] = searchesOf(
        placesInOrder(resource, own, 101, dialect).text,
      )
      assert.deepEqual(others, [])
      assert.match(ofCustomer, /PRIMARY KEY \(customer=\? AND deleted=\? AND position[<>]\?/)
      if (resource.statuses.length === 0) continue
      const ofStatus = placesInOrder(resource, { ...own, status: 'X' }, 101, dialect)
      const [search = ''] = searchesOf(ofStatus.text)
      assert.match(
        search,
        /_by_status \(customer=\? AND status=\? AND deleted=\? AND position[<>]\?/,
      )
    }
  }
})

test('a list in the order of a term reads one range for each status', () => {
  const resource = resourceOf('statements')
  for (const over of [{}, { order: 'ASC' as const }, { customerId: 'acme' }, { status: 'X' }]) {
    const selection = { ...aTermSelection, ...over }
    const searches = searchesOf(placesByTerm(resource, selection, 101, dialect).text)
    assert.equal(searches.length, 'status' in over ? 1 : resource.statuses.length)
    const place =
      /PRIMARY KEY \(term=\? AND scope=\? AND (sort[<>]\? AND )?\(sort,position\)[<>]\(\?,\?\)/
    for (const search of searches) {
      assert.match(search, place)
    }
  }
})

test('the next asset with shortfalls is one step of the table', () => {
  for (const customerId of [undefined, 'acme']) {
    const asked = { term: 'short PAID', customerId, after: 'USDG :' }
    const [search = ''] = searchesOf(nextPlace(resourceOf('statements'), asked, dialect).text)
    assert.match(search, /PRIMARY KEY \(term=\? AND scope=\? AND sort>\?\)/)
  }
})

test('the bodies of a list are found by their ids', () => {
  for (const resource of resources) {
    const steps = plans.explain(listedBodies(resource, dialect))
    assert.ok(
      steps.some((step) => step.includes(`USING INDEX ${resource.table}_by_id`)),
      steps.join('\n'),
    )
  }
})
