import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService } from '../support/describe-service.ts'

const path = '/v2/transfer/fiat-deposit-instructions'
const id = '22222222-2222-4222-8222-222222222222'

const service = describeService()

test('answers the whole instructions with the memo that a wire must carry', async () => {
  const called = await service.call(`${path}/${id}`)
  assert.equal(called.status, 200)
  assert.equal(called.headers.get('cache-control'), 'no-store')
  assert.deepEqual(called.body, {
    id,
    profile_id: '44948a86-badb-4e58-a0b5-3306638a8687',
    customer_id: 'acme',
    identity_id: '12b8d131-9fb4-49c2-ada0-d111c35dd757',
    account_id: '743af367-e7d6-4481-8abf-7a47e5ec2915',
    ref_id: 'acme-instructions-0001',
    status: 'VALID',
    memo_id: 'SANDBOXMEMO00001',
    fiat_network_instructions: {
      wire: {
        account_number: '9616767134',
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
    metadata: { purpose: 'funding' },
    created_at: '2026-10-31T12:00:00Z',
  })
})
