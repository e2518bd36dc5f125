import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventKinds, lists, resources } from '@bursar/contract'
import type { Statement } from '@bursar/records'
import { resourceOf } from '../../../test/support/record-store.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { listStatements } from '../../records/src/customers/find-customers.ts'
import type { PastSelection } from '../../records/src/records/history.ts'
import { searchLookUps } from '../../records/src/search/search.ts'
import { logStatements } from '../../records/src/versions/change-log.ts'
import { pastPageQuery } from '../../records/src/versions/past-page-query.ts'
import { readEvents } from '../../records/src/versions/read-events.ts'
import {
  currentVersionOf,
  versionBefore,
  versionsAfter,
} from '../../records/src/versions/versions.ts'
import { openPlans, type Plans } from '../../records/test/support/sqlite-plans.ts'
import { wordWalks } from '../../records/test/support/word-walks.ts'
import { dialect } from '../src/dialect.ts'

let plans: Plans

before(() => {
  plans = openPlans()
})
after(() => plans.close())

/** Steps may scan what the query itself has made, but no stored table. */
function assertSearches(plan: readonly string[]): void {
  const scans = plan.filter((step) =>
    /^SCAN (?!key|page|candidate|entry|json_each|reached|\()/.test(step),
  )
  assert.deepEqual(scans, [], plan.join('\n'))
}

describe('a past page', () => {
  for (const { id, view, filter } of lists) {
    const { resource } = view
    const plan = (over: Partial<PastSelection>) => {
      const selection = { ...firstPage, asOf: 1n, ...over }
      const asked = { tenant: 'acme', view: 'customer' } as const
      return plans.explain(pastPageQuery(resource, asked, selection, dialect).text)
    }
    test(`of ${id} walks the order of the customer`, () => {
      for (const order of ['ASC', 'DESC'] as const) {
        const steps = plan({ order })
        assertSearches(steps)
        const range = /SEARCH record USING PRIMARY KEY \(customer=\? AND deleted=\? AND position>/
        assert.ok(
          steps.some((step) => range.test(step)),
          steps.join('\n'),
        )
      }
    })
    const columns = Object.values(filter).flatMap((one) =>
      one.kind === 'anyOf' ? [one.column] : [],
    )
    for (const column of columns) {
      test(`of ${id} with ${column} searches by the value, now and then`, () => {
        const steps = plan({ anyOf: [{ column, values: ['a', 'b'] }] })
        assertSearches(steps)
        if (column === 'id') return
        const former =
          /SEARCH former USING PRIMARY KEY \(customer=\? AND kind=\? AND member=\? AND value=\?/
        assert.ok(
          steps.some((step) => former.test(step)),
          steps.join('\n'),
        )
      })
    }
  }
})

test('the record of a named customer is found by its id', () => {
  for (const resource of resources) {
    const [first = ''] = plans.explain(currentVersionOf(resource, dialect))
    const search = `USING INDEX ${resource.table}_by_id (<expr>=?)`
    assert.ok(first.includes(search), first)
  }
})

test('a version is found by its record and its time', () => {
  for (const query of [versionBefore, versionsAfter]) {
    const steps = plans.explain(query(resourceOf('fiat-accounts'), dialect))
    assertSearches(steps)
    const search = /USING INDEX history_by_id \(customer=\? AND kind=\? AND id=\? AND stored_at/
    assert.ok(
      steps.some((step) => search.test(step)),
      steps.join('\n'),
    )
  }
})

test('every look-up of a search uses an index', () => {
  const queries = [
    'aaaaaaaa-0000-4000-8000-000000000001',
    'MEMO00',
    '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
  ]
  const seen = new Set<string>()
  for (const query of queries) {
    const search = { query, customerId: undefined, hitsMax: 20, after: undefined }
    for (const { resource, matched, look } of searchLookUps(search, dialect)) {
      if ('terms' in look) continue
      const steps = plans.explain(look.text)
      assert.match(steps.join('\n'), new RegExp(`^SEARCH ${resource.table} USING INDEX`))
      assert.doesNotMatch(steps.join('\n'), /TEMP B-TREE/, matched)
      seen.add(`${resource.kind} ${matched}`)
    }
  }
  assert.equal(seen.size, 19, [...seen].join('\n'))
})

test('a search by words walks the records of one word from its place, and looks the others up', () => {
  const seen = [...wordWalks(dialect)]
  assert.ok(seen.length > 0)
  for (const { walk, count, customerId, isLater } of seen) {
    const steps = plans.explain(walk.text)
    const begun = customerId === undefined ? '\\(scope,sort,position\\)' : '\\(sort,position\\)'
    const place = isLater ? ` AND ${begun}>` : ''
    const scope = customerId === undefined ? '' : ' AND scope=\\?'
    const search = new RegExp(`^SEARCH record_term USING PRIMARY KEY \\(term=\\?${scope}${place}`)
    assert.ok(
      steps.some((step) => search.test(step)),
      steps.join('\n'),
    )
    assert.doesNotMatch(steps.join('\n'), /TEMP B-TREE|SCAN (?!held)/)
    const counted = plans.explain(count.text).join('\n')
    assert.match(counted, /SEARCH record_term USING PRIMARY KEY \(term=\?/)
  }
})

test('the list of customers walks the order of an index', () => {
  for (const [name, text] of Object.entries(listStatements(dialect))) {
    const steps = plans.explain(text)
    assertSearches(steps.filter((step) => !/^SCAN (named|reached)$/.test(step)))
    assert.doesNotMatch(steps.join('\n'), /TEMP B-TREE/, name)
  }
})

test('a page of events begins its scans at its place, and compares nothing before it', async () => {
  const statements: string[] = []
  const reads = {
    rows: async ({ text }: Statement) => {
      statements.push(text)
      return []
    },
  }
  const after = { change: 500n, digest: 1n, pruned: 0n }
  const { page } = readEvents(reads, dialect, 'acme', async () => {})
  const kinds = new Set<string>(eventKinds)
  await assert.rejects(page({ kinds, order: 'ASC', after, limit: 100 }))
  const [text = ''] = statements
  const operations = plans.operations(text)
  // A lower bound besides the one that a scan begins at is compared for each row that it passes.
  const isBound = (operation: string) => operation === 'Le' || operation === 'Lt'
  assert.deepEqual(operations.filter(isBound), [])
  assert.ok(operations.includes('SeekGT'))
})

test('a page of changes seeks each entry and the ends of its versions, wherever it is', () => {
  const { entries, events } = logStatements(dialect)
  const [first = ''] = plans.explain(entries)
  assert.equal(first, 'SEARCH entry USING PRIMARY KEY (seq>?)')
  const scans = plans
    .explain(events)
    .join('\n')
    .match(/SEARCH record USING .*\(customer=\? (AND kind=\? )?AND change>\? AND change<\?\)/g)
  assert.equal(scans?.length, 11)
  // A bound that no scan begins or ends at is compared for each row that it passes.
  const isCompared = (operation: string) => ['Le', 'Lt', 'Ge', 'Gt'].includes(operation)
  assert.deepEqual(plans.operations(events).filter(isCompared), [])
})

test('a filter compares events by the entries of an index, which have their types', async () => {
  const statements: string[] = []
  const reads = {
    rows: async ({ text }: Statement) => {
      statements.push(text)
      return []
    },
  }
  const { page, stretch } = readEvents(reads, dialect, 'acme', async () => {})
  const asked = { kinds: new Set<string>(eventKinds), order: 'ASC', after: undefined } as const
  await stretch({ ...asked, limit: 5000 })
  const filter = { types: new Set(['statement.deleted']), times: NO_TIMES }
  await page({ ...asked, kinds: new Set(['statements']), filter, limit: 100 })
  const [stretched = '', filtered = ''] = statements
  const plan = plans.explain(stretched).join('\n')
  const covering =
    /COVERING INDEX \w+_by_change \(customer=\? (?:AND kind=\? )?AND change>\? AND change</g
  assert.equal(plan.match(covering)?.length, 10, plan)
  // It goes to the row of a match only: the index tells the others apart.
  const operations = plans.operations(filtered)
  assert.ok(operations.includes('DeferredSeek'), operations.join(' '))
})

const NO_TIMES = { from: undefined, before: undefined }
