import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertPage } from '../support/assert-answer.ts'
import { describeService } from '../support/describe-service.ts'

const path = '/v2/transfer/fiat-accounts'
const id = '11111111-1111-4111-8111-111111111111'

const service = describeService()

const brief = {
  id,
  ref_id: 'acme-account-0001',
  identity_id: '12b8d131-9fb4-49c2-ada0-d111c35dd757',
  account_id: '743af367-e7d6-4481-8abf-7a47e5ec2915',
  status: 'APPROVED',
  fiat_network_instructions: {
    wire: {
      account_number: 'XXXXXX8846',
      fiat_account_owner_address: { country: 'USA' },
      routing_details: {
        routing_number_type: 'ABA',
        routing_number: '021000021',
        bank_name: 'First Sample Bank',
        bank_address: { country: 'USA' },
      },
      status: 'APPROVED',
      metadata: { cost_centre: '0' },
    },
  },
  fiat_account_owner: {},
  metadata: { cost_centre: '0' },
  created_at: '2026-10-31T12:00:00Z',
  updated_at: '2026-10-31T12:00:00Z',
}

test('answers accounts masked', async () => {
  assertPage(await service.call(`${path}?ids=${id}`), { items: [brief] })
})

test('ref_ids returns the account with this ref_id', async () => {
  assertPage(await service.call(`${path}?ref_ids=acme-account-0001&ref_ids=nobody`), {
    items: [brief],
  })
})

test('include_deleted=true adds deleted accounts in order of creation', async () => {
  const live = await service.call(`${path}?limit=1000`)
  assert.equal(live.body.items.length, 1000)
  assert.equal(typeof live.body.next_page_cursor, 'string')
  const oldest = await service.call(`${path}?include_deleted=true&order=ASC&limit=21`)
  const liveOldest = await service.call(`${path}?order=ASC&limit=1`)
  assert.deepEqual(oldest.body.items.at(-1), liveOldest.body.items[0])
})
