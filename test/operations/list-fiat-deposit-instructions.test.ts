import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertFault, assertForbidden, assertPage, assertUnauthorized } from '../support/expect.ts'
import { acme, startTestService, type TestService } from '../support/harness.ts'

const path = '/v2/transfer/fiat-deposit-instructions'
const id = '22222222-2222-4222-8222-222222222222'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

test('200: answers in a list, unmasked, what a get answers', async () => {
  const one = await service.call(`${path}/${id}`)
  assertPage(await service.call(`${path}?memo_ids=SANDBOXMEMO00001`), { items: [one.body] })
})

for (const [parameter, member] of [
  ['ids', 'id'],
  ['ref_ids', 'ref_id'],
  ['profile_ids', 'profile_id'],
  ['identity_ids', 'identity_id'],
  ['account_ids', 'account_id'],
] as const) {
  test(`200: ${parameter} shows just the records with this ${member}`, async () => {
    const { body: one } = await service.call(`${path}/${id}`)
    const all = await service.call(`${path}?limit=1000`)
    const expected = all.body.items.filter(
      (item: Record<string, unknown>) => item[member] === one[member],
    )
    const called = await service.call(`${path}?limit=1000&${parameter}=${one[member]}`)
    assert.ok(expected.length > 0)
    assertPage(called, { items: expected })
  })
}

test('200: answers the nil UUID for instructions without an identity', async () => {
  const nil = '00000000-0000-0000-0000-000000000000'
  const called = await service.call(`${path}?identity_ids=${nil}&limit=1`)
  assert.equal(called.body.items[0].identity_id, nil)
})

test('400: tells an order that there is none of', async () => {
  const called = await service.call(`${path}?order_by=UPDATED_AT`)
  assertFault(called, path, 'order_by', 'must be CREATED_AT')
})

test('401: wants a token', async () => {
  assertUnauthorized(await service.call(path, { as: null }), path)
})

test('403: wants its scope', async () => {
  const token = await service.tokenOf(acme, 'statements:read_statement')
  assertForbidden(
    await service.call(path, { token }),
    path,
    'statements:read_statement',
    'transfer:read_fiat_deposit_instructions',
  )
})
