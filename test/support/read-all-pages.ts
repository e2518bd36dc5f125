import assert from 'node:assert/strict'
import type { ListOperation } from '@bursar/contract'
import type { SampleCustomer } from '../../packages/sandbox/src/sample-records.ts'
import { acme, type Called, type TestService } from './harness.ts'
import { type Pairs, pathOf } from './operation-calls.ts'

export type Item = { readonly id: string } & Readonly<Record<string, unknown>>

export type AllPages = { readonly items: readonly Item[]; readonly pageSizes: readonly number[] }

export const itemsOf = (list: ListOperation, called: Called): readonly Item[] =>
  called.body[list.envelope]

/** Follows the cursors of a list until a page has none. */
export async function readAllPages(
  service: TestService,
  list: ListOperation,
  query: Pairs = [],
  { limit = 1000, as = acme }: { limit?: number; as?: SampleCustomer } = {},
): Promise<AllPages> {
  const items: Item[] = []
  const pageSizes: number[] = []
  let cursor: string | undefined
  do {
    const pair: Pairs = cursor === undefined ? [] : [['page_cursor', cursor]]
    const path = pathOf(list, [...query, ['limit', String(limit)], ...pair], as.customerId)
    const called = await service.call(path, { as })
    assert.equal(called.status, 200, `${path}: ${called.text}`)
    const page = itemsOf(list, called)
    pageSizes.push(page.length)
    items.push(...page)
    cursor = called.body.next_page_cursor
  } while (cursor !== undefined)
  return { items, pageSizes }
}
