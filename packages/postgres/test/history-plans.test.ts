import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asTenant, lists, resources } from '@bursar/contract'
import type { Statement } from '@bursar/records'
import { anId } from '../../../test/support/records.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { readsQuery } from '../../records/src/audit/open-record-reads.ts'
import { listStatements } from '../../records/src/customers/find-customers.ts'
import type { PastSelection } from '../../records/src/records/history.ts'
import { searchLookUps } from '../../records/src/search/search.ts'
import { logStatements } from '../../records/src/versions/change-log.ts'
import { pastPageQuery } from '../../records/src/versions/past-page-query.ts'
import { latestStatements } from '../../records/src/versions/read-latest-changes.ts'
import { currentVersionOf } from '../../records/src/versions/versions.ts'
import { describePlans } from '../../records/test/support/postgres-plans.ts'
import { wordWalks } from '../../records/test/support/word-walks.ts'
import { dialect } from '../src/dialect.ts'
import { pastPagesQuery } from '../src/records/past-batch.ts'

// The planner sees no rows, so it would prefer scans, which these sessions forbid.
const plans = describePlans()

const planOf = async (statement: Statement): Promise<string> =>
  (await plans.explain(statement)).join('\n')

describe('a past page', () => {
  for (const { id, view, filter } of lists) {
    const { resource } = view
    const plan = (over: Partial<PastSelection>) => {
      const selection = { ...firstPage, asOf: 1n, ...over }
      const asked = { tenant: asTenant('acme'), view: 'customer' } as const
      return planOf(pastPageQuery(resource, asked, selection, dialect))
    }
    test(`of ${id} walks the order of the customer`, async () => {
      for (const order of ['ASC', 'DESC'] as const) {
        const text = await plan({ order })
        assert.doesNotMatch(text, /Seq Scan/)
        assert.match(text, /Index Scan (Backward )?using \w+_pkey on \w+ record/, text)
        assert.match(text, /using history_by_id on history/, text)
      }
    })
    test(`of ${id} in a shared statement walks the order, and visits a bounded number`, async () => {
      for (const order of ['ASC', 'DESC'] as const) {
        for (const view of ['customer', 'full'] as const) {
          const selection = { ...firstPage, order, asOf: 1n }
          const asked = ['acme', 'globex'].map((name) => {
            return { resource, tenant: asTenant(name), view, selection }
          })
          const text = await planOf(pastPagesQuery(asked))
          assert.doesNotMatch(text, /Seq Scan|Sort\b(?! Key)/, text)
          const walk =
            /Limit\n(?: +InitPlan.*\n(?: +->.*\n)+)* +-> +Index Scan (Backward )?using \w+_pkey on \w+ record/
          assert.match(text, walk, text)
          assert.match(text, /using history_by_id on history/, text)
        }
      }
    })
    const columns = Object.values(filter).flatMap((one) =>
      one.kind === 'anyOf' && one.column !== 'id' ? [one.column] : [],
    )
    for (const column of columns) {
      test(`of ${id} with ${column} searches by the value, now and then`, async () => {
        const text = await plan({ anyOf: [{ column, values: ['a', 'b'] }] })
        assert.doesNotMatch(text, /Seq Scan/)
        assert.match(text, /using former_value_pkey on former_value/, text)
      })
    }
  }
})

test('the record of a named customer is found by an index of that customer', async () => {
  for (const resource of resources) {
    const query = currentVersionOf(resource, dialect)
    const text = await planOf({ text: query, values: ['acme', anId(1)] })
    assert.match(text, /Index Cond: \(+customer = /, text)
    assert.doesNotMatch(text, /_identity|Seq Scan/, text)
  }
})

test('every look-up of a search uses an index across customers', async () => {
  const queries = [
    'aaaaaaaa-0000-4000-8000-000000000001',
    'MEMO00',
    '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
  ]
  for (const query of queries) {
    const search = { query, customerId: undefined, hitsMax: 20, after: undefined }
    for (const { matched, look } of searchLookUps(search, dialect)) {
      if ('terms' in look) continue
      const text = await planOf(look)
      assert.match(text, /(_by_\w+_id|_identity|_by_exclusive_key)\b/, `${matched}\n${text}`)
      assert.doesNotMatch(text, /Seq Scan/, text)
    }
  }
})

test('a search by words walks the records of one word from its place, and looks the others up', async () => {
  const seen = [...wordWalks(dialect)]
  assert.ok(seen.length > 0)
  for (const { walk, count, customerId, isLater } of seen) {
    const plan = await planOf(walk)
    const scope = customerId === undefined ? '' : ' AND \\(scope = '
    const begun =
      customerId === undefined ? 'ROW\\(scope, sort, "?position' : 'ROW\\(sort, "?position'
    const condition = `term = [^\n]*${scope}[^\n]*${isLater ? begun : ''}`
    assert.match(
      plan,
      new RegExp(`Scan using record_term_pkey on record_term\n +Index Cond: \\(+${condition}`),
    )
    assert.doesNotMatch(plan, /Seq Scan/)
    assert.match(await planOf(count), /Scan using record_term_pkey/)
  }
})

test('the list of customers walks the order of an index', async () => {
  const values = {
    firstById: ['a', 'b', 0, 3],
    nextById: ['a', 'b', 1, 3],
    findPlace: [1, 1],
    byName: ['a', 'b', '', 0, 'a', 'b', 3],
    findOne: ['acme'],
    describe: ['{1,2}'],
  }
  for (const [name, text] of Object.entries(listStatements(dialect))) {
    const plan = await planOf({ text, values: values[name as keyof typeof values] })
    assert.doesNotMatch(plan, /Seq Scan/, name)
    if (/ById/.test(name)) {
      assert.match(
        plan,
        /Limit\n(?: +InitPlan.*\n(?: +->.*\n| {3}.*Cond.*\n)+)* +-> +Index (Only )?Scan using customer_by_text/,
        plan,
      )
    }
    if (name === 'byName')
      assert.match(plan, /Limit\n +-> +Index (Only )?Scan using customer_term_pkey/, plan)
  }
})

test('who saw a record is a range of one index, newest first', async () => {
  const values = ['acme', 'fiat-accounts', anId(1), 9, 9, 3]
  const plan = await planOf({ text: readsQuery(dialect), values })
  assert.equal(plan.match(/Scan Backward using seen_by_record/g)?.length, 2, plan)
  assert.doesNotMatch(plan, /Seq Scan/, plan)
})

test('a page of changes seeks each entry and the ends of its versions, wherever it is', async () => {
  const { entries, events } = logStatements(dialect)
  const from = await planOf({ text: entries, values: [7, 101] })
  assert.match(from, /using change_log_pkey on change_log entry\n +Index Cond: \(seq >= \$1\)/)
  const page = await planOf({ text: events, values: ['{7,8}', '{1,2}', '{0,500}', '{250,750}'] })
  const ends =
    /Index Cond: \(\(customer = .*\(change > entry\S*\.low\) AND \(change <= entry\S*\.high\)/g
  assert.equal(page.match(ends)?.length, 11, page)
  assert.doesNotMatch(page, /Seq Scan|Filter:.*change/, page)
})

test('the latest changes are found by the index of times, and by those of numbers', async () => {
  const { owners, events } = latestStatements(dialect)
  const first = await planOf({ text: owners, values: [100] })
  assert.match(first, /Index (Only )?Scan Backward using revision_by_time/, first)
  const last = await planOf({ text: events, values: ['{1,2}', '{1,0}'] })
  const seeks =
    /using \w+_by_change on .*\n +Index Cond: \(\(customer = .*\(change > entry\S*\.low\)/g
  assert.equal(last.match(seeks)?.length, 10, last)
})
