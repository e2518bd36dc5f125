import assert from 'node:assert/strict'
import { test } from 'node:test'
import { text, upTo100, uuid } from '../src/fields.ts'
import { anyOf, listOperation } from '../src/operation.ts'
import { operations } from '../src/operations/index.ts'
import { depositAddress } from '../src/resources/deposit-address.ts'

const complete = {
  id: 'listSomething',
  summary: 'Something.',
  tag: 'Something',
  path: '/v2/something',
  scope: 'transfer:read_deposit_address',
  order: { by: 'created_at', first: 'newest' },
  envelope: 'items',
  view: depositAddress.full,
} as const

/** `tsc` checks this: it fails when one of these lines stops being an error. */
test('an incomplete declaration does not compile', () => {
  listOperation({ ...complete, filters: { ids: anyOf('id', upTo100(uuid)) }, required: ['ids'] })

  listOperation({
    ...complete,
    // @ts-expect-error a parameter without a filter
    filters: { ids: anyOf('id', upTo100(uuid)), refs: upTo100(text) },
  })

  listOperation({
    ...complete,
    // @ts-expect-error a column that the resource lacks
    filters: { memo_ids: anyOf('memoId', upTo100(text)) },
  })

  listOperation({
    ...complete,
    filters: { ids: anyOf('id', upTo100(uuid)) },
    // @ts-expect-error a required parameter that the list lacks
    required: ['refs'],
  })

  // @ts-expect-error a path outside /v2/
  listOperation({ ...complete, path: '/v1/something', filters: {} })
})

test('only ids, references and enums may have more than 100 entries', () => {
  for (const { id, query } of operations) {
    for (const [name, field] of Object.entries(query)) {
      if (!('each' in field) || field.entriesMax <= 100) continue
      const isKey = /^(ids|ref_ids|statement_ids)$/.test(name)
      assert.ok(isKey || 'enum' in field.each.schema, `${id}: ${name}`)
    }
  }
})

test('operation ids are unique', () => {
  const ids = operations.map(({ id }) => id)
  assert.equal(new Set(ids).size, operations.length)
})
