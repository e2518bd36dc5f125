import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertProblem } from '../support/assert-answer.ts'
import { describeService } from '../support/describe-service.ts'

const path = '/v2/transfer/fiat-accounts'
const id = '11111111-1111-4111-8111-111111111111'

const service = describeService()

const account = {
  id,
  ref_id: 'acme-account-0001',
  identity_id: '12b8d131-9fb4-49c2-ada0-d111c35dd757',
  account_id: '743af367-e7d6-4481-8abf-7a47e5ec2915',
  status: 'APPROVED',
  fiat_network_instructions: {
    wire: {
      account_number: '5730008846',
      fiat_account_owner_address: {
        country: 'USA',
        address1: '20 Harbour Way',
        city: 'Boston',
        province: 'MA',
        zip_code: '02110',
      },
      routing_details: {
        routing_number_type: 'ABA',
        routing_number: '021000021',
        bank_name: 'First Sample Bank',
        bank_address: {
          country: 'USA',
          address1: '1 Sample Street',
          address2: 'Floor 7',
          city: 'New York',
          province: 'NY',
          zip_code: '10004',
        },
      },
    },
  },
  fiat_account_owner: { person_details: { first_name: 'Ada', last_name: 'Example' } },
  metadata: { cost_centre: '0' },
  created_at: '2026-10-31T12:00:00Z',
  updated_at: '2026-10-31T12:00:00Z',
}

test('answers the whole account unmasked', async () => {
  const called = await service.call(`${path}/${id}`)
  assert.equal(called.status, 200)
  assert.equal(called.headers.get('cache-control'), 'no-store')
  assert.deepEqual(called.body, account)
})

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
