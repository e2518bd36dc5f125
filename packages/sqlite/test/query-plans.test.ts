import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ListOperation, lists } from '@bursar/contract'
import type { Selection } from '@bursar/records'
import { firstPage } from '../../../test/support/selection.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { unpairedQuery } from '../../records/src/integrity/stored-rows.ts'
import { openPlans, type Plans } from '../../records/test/support/sqlite-plans.ts'
import { dialect } from '../src/dialect.ts'
import { pageQuery } from '../src/records/page-query.ts'

let plans: Plans

before(() => {
  plans = openPlans()
})
after(() => plans.close())

const planOf = ({ view }: ListOperation, selection: Selection): string[] =>
  plans.explain(pageQuery(view.resource, selection).sql)

/**
 * Every step that reads the table of records must be a search that starts with the customer, or
 * with the value of a filter and then the customer. An id names one record by itself.
 */
function assertTenantFirst(plan: readonly string[], table: string): void {
  const reads = plan.filter((step) => new RegExp(`^(SEARCH|SCAN) (${table}|r)\\b`).test(step))
  assert.ok(reads.length > 0, `no step reads ${table}:\n${plan.join('\n')}`)
  for (const step of reads) {
    assert.match(step, /^SEARCH .*\((<expr>=\?\)|(\w+=\? AND )?customer=\?)/, plan.join('\n'))
  }
}

/** A plan may sort only the keys that the branches return, at most a page from each. */
function assertSortsKeysOnly(plan: readonly string[]): void {
  const bodySort = plan.findIndex(
    (step) => step.includes('USE TEMP B-TREE') && !step.includes('ORDER BY'),
  )
  assert.equal(bodySort, -1, plan.join('\n'))
}

/** An address that is none on any network is looked up nowhere. */
const sampleOf = (column: string, at: number): string =>
  column === 'address' ? `0x${String(at).padStart(40, '7')}` : `value ${at}`

for (const operation of lists) {
  const { table } = operation.view.resource
  describe(operation.id, () => {
    for (const order of ['ASC', 'DESC'] as const) {
      test(`scans the primary key without a filter, ${order}, and sorts nothing`, () => {
        const plan = planOf(operation, { ...firstPage, order })
        assertTenantFirst(plan, table)
        assert.ok(!plan.some((step) => step.includes('TEMP B-TREE')), plan.join('\n'))
        assert.match(
          plan.join('\n'),
          /PRIMARY KEY \(customer=\? AND deleted=\? AND position>\? AND position<\?\)/,
        )
      })
    }

    for (const [parameter, filter] of Object.entries(operation.filter)) {
      if (filter.kind !== 'anyOf') continue
      const isKey = filter.column === 'id' || filter.column === 'refId'
      for (const entries of isKey ? [1, 3, 1000] : [1, 3, 100]) {
        test(`finds ${entries} values of ${parameter} in an index that starts with the tenant`, () => {
          const values = Array.from({ length: entries }, (_, at) => sampleOf(filter.column, at))
          const plan = planOf(operation, {
            ...firstPage,
            anyOf: [{ column: filter.column, values }],
          })
          assertTenantFirst(plan, table)
          assertSortsKeysOnly(plan)
          const branches = plan.filter((step) => step.startsWith(`SEARCH ${table} USING`))
          if (isKey) assert.equal(branches.length, 1)
          else assert.ok(branches.length >= entries && branches.length <= 128)
        })
      }

      test(`scans one value of ${parameter} in the order of its index`, () => {
        const plan = planOf(operation, {
          ...firstPage,
          anyOf: [{ column: filter.column, values: ['one'] }],
        })
        // An id or a ref_id names one record, so there is nothing to sort.
        if (!isKey) {
          const branch = plan.find((step) => step.startsWith(`SEARCH ${table} USING`))
          assert.match(branch ?? '', /position>\? AND position<\?/)
        }
      })
    }

    if (operation.view.resource.deletable) {
      test('scans live and deleted records as two ranges of the primary key', () => {
        const plan = planOf(operation, { ...firstPage, includeDeleted: true })
        assertTenantFirst(plan, table)
        assert.equal(
          plan.filter((step) =>
            step.includes('PRIMARY KEY (customer=? AND deleted=? AND position>? AND position<?)'),
          ).length,
          2,
        )
      })
    }

    test('scans the index of the most selective filter', () => {
      const columns = Object.values(operation.filter).flatMap((filter) =>
        filter.kind === 'anyOf' ? [filter.column] : [],
      )
      const anyOf = columns.toReversed().map((column) => ({ column, values: ['x'] }))
      const plan = planOf(operation, { ...firstPage, anyOf })
      assertTenantFirst(plan, table)
      assert.ok(
        plan.some((step) => step.includes(`${table}_by_id`)),
        plan.join('\n'),
      )
    })
  })
}

test('an unmasked record seeks its masked one by id, however many its customer has', () => {
  const { resource } = fiatAccount
  const plan = plans.explain(unpairedQuery(resource, dialect))
  assert.ok(
    plan.includes(`SEARCH record USING COVERING INDEX ${resource.table}_by_id (<expr>=?)`),
    plan.join('\n'),
  )
})
