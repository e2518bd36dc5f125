import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertPage } from '../support/assert-answer.ts'
import { describeService } from '../support/describe-service.ts'

const path = '/v2/transfer/fiat-deposit-instructions'
const id = '22222222-2222-4222-8222-222222222222'

const service = describeService()

for (const [parameter, member] of [
  ['ids', 'id'],
  ['ref_ids', 'ref_id'],
  ['memo_ids', 'memo_id'],
  ['profile_ids', 'profile_id'],
  ['identity_ids', 'identity_id'],
  ['account_ids', 'account_id'],
] as const) {
  test(`${parameter} returns only the records with this ${member}`, async () => {
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

test('instructions without an identity have the nil UUID as identity_id', async () => {
  const nil = '00000000-0000-0000-0000-000000000000'
  const called = await service.call(`${path}?identity_ids=${nil}&limit=1`)
  assert.equal(called.body.items[0].identity_id, nil)
})
