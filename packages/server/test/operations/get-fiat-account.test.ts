import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertProblem } from '../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../test/support/describe-service.ts'

const path = '/v2/transfer/fiat-accounts'

const service = describeService()

test('a deleted account is a 404 unless include_deleted=true', async () => {
  const listed = await service.call(`${path}?include_deleted=true&order=ASC&limit=1`)
  const deletedId = listed.body.items[0].id
  for (const query of ['', '?include_deleted=false']) {
    const expected = {
      status: 404,
      detail: `no fiat account found for id: '${deletedId}'`,
      instance: `${path}/${deletedId}`,
    }
    assertProblem(await service.call(`${path}/${deletedId}${query}`), expected, query)
  }
  const shown = await service.call(`${path}/${deletedId}?include_deleted=true`)
  assert.equal(shown.status, 200)
  assert.equal(shown.body.id, deletedId)
})
