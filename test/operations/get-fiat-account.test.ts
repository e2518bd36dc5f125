import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  assertFault,
  assertForbidden,
  assertProblem,
  assertUnauthorized,
} from '../support/expect.ts'
import { acme, startTestService, type TestService } from '../support/harness.ts'

const path = '/v2/transfer/fiat-accounts'
const id = '11111111-1111-4111-8111-111111111111'
const unknownId = '00000000-0000-4000-8000-000000000000'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

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

test('200: answers the account with everything shown, and lets nobody store it', async () => {
  const called = await service.call(`${path}/${id}`)
  assert.equal(called.status, 200)
  assert.equal(called.headers.get('cache-control'), 'no-store')
  assert.deepEqual(called.body, account)
})

test('200: takes the id in either case', async () => {
  const called = await service.call(`${path}/${id.toUpperCase()}`)
  assert.deepEqual(called.body, account)
})

test('200: answers a deleted account only when it is asked for', async () => {
  const listed = await service.call(`${path}?include_deleted=true&order=ASC&limit=1`)
  const deletedId = listed.body.items[0].id
  assertProblem(await service.call(`${path}/${deletedId}`), {
    status: 404,
    detail: `no fiat account found for id: '${deletedId}'`,
    instance: `${path}/${deletedId}`,
  })
  const shown = await service.call(`${path}/${deletedId}?include_deleted=true`)
  assert.equal(shown.status, 200)
  assert.equal(shown.body.id, deletedId)
})

test('400: tells an id that is no UUID', async () => {
  assertProblem(await service.call(`${path}/17`), {
    status: 400,
    detail: "id must be uuid, given '17'",
    instance: `${path}/17`,
    errors: [{ parameter: 'id', reason: "id must be uuid, given '17'" }],
  })
})

test('400: tells an include_deleted that is neither true nor false', async () => {
  const called = await service.call(`${path}/${id}?include_deleted=yes`)
  assertFault(called, `${path}/${id}`, 'include_deleted', 'must be true or false')
})

test('401: wants a token', async () => {
  assertUnauthorized(await service.call(`${path}/${id}`, { as: null }), `${path}/${id}`)
})

test('403: wants its scope', async () => {
  const token = await service.tokenOf(acme, 'statements:read_statement')
  const called = await service.call(`${path}/${id}`, { token })
  assertForbidden(
    called,
    `${path}/${id}`,
    'statements:read_statement',
    'transfer:read_fiat_account',
  )
})

test('404: knows no such account', async () => {
  assertProblem(await service.call(`${path}/${unknownId}`), {
    status: 404,
    detail: `no fiat account found for id: '${unknownId}'`,
    instance: `${path}/${unknownId}`,
  })
})
