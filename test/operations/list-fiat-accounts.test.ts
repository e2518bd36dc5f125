import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertFault, assertForbidden, assertPage, assertUnauthorized } from '../support/expect.ts'
import { acme, borealis, startTestService, type TestService } from '../support/harness.ts'

const path = '/v2/transfer/fiat-accounts'
const id = '11111111-1111-4111-8111-111111111111'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

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
  fiat_account_owner: { person_details: null },
  metadata: { cost_centre: '0' },
  created_at: '2026-10-31T12:00:00Z',
  updated_at: '2026-10-31T12:00:00Z',
}

test('200: answers accounts masked, the newest first', async () => {
  assertPage(await service.call(`${path}?ids=${id}`), { items: [brief] })
})

test('200: finds an account by its ref_id', async () => {
  assertPage(await service.call(`${path}?ref_ids=acme-account-0001&ref_ids=nobody`), {
    items: [brief],
  })
})

test('200: answers what is printed as created_at when it is asked for as created_at.eq', async () => {
  const called = await service.call(`${path}?created_at.eq=${brief.created_at}`)
  assertPage(called, { items: [brief] })
})

test('200: gives an empty page without a cursor where nothing matches', async () => {
  assertPage(await service.call(`${path}?ref_ids=nobody`), { items: [] })
})

test('200: has no cursor on a page that is exactly full and the last', async () => {
  const called = await service.call(`${path}?limit=100`, { as: borealis })
  assert.equal(called.body.items.length, 100)
  assert.equal('next_page_cursor' in called.body, false)
})

test('200: shows deleted accounts on request, in their place', async () => {
  const live = await service.call(`${path}?limit=1000`)
  assert.equal(live.body.items.length, 1000)
  assert.equal(typeof live.body.next_page_cursor, 'string')
  const oldest = await service.call(`${path}?include_deleted=true&order=ASC&limit=21`)
  const liveOldest = await service.call(`${path}?order=ASC&limit=1`)
  assert.deepEqual(oldest.body.items.at(-1), liveOldest.body.items[0])
})

test('304: spares a caller the page that it holds', async () => {
  const first = await service.call(`${path}?limit=3`)
  const again = await service.call(`${path}?limit=3`, {
    headers: { 'if-none-match': first.headers.get('etag') ?? '' },
  })
  assert.equal(again.status, 304)
  assert.equal(again.text, '')
  assert.equal(again.headers.get('etag'), first.headers.get('etag'))
})

test('400: tells a limit out of range', async () => {
  for (const limit of ['0', '1001', 'ten']) {
    const called = await service.call(`${path}?limit=${limit}`)
    assertFault(called, path, 'limit', 'must be between 1 and 1000')
  }
})

test('400: tells a cursor that it did not give out', async () => {
  const called = await service.call(`${path}?page_cursor=abc`)
  assertFault(called, path, 'page_cursor', 'token cannot be parsed')
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
    'transfer:read_fiat_account',
  )
})
