import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cryptoNetworks } from '../../src/values/network.ts'
import { assertPage } from '../support/assert-answer.ts'
import { describeService } from '../support/describe-service.ts'

const path = '/v2/transfer/deposit-addresses'

const service = describeService()

const address = {
  id: '33333333-3333-4333-8333-333333333333',
  profile_id: '44948a86-badb-4e58-a0b5-3306638a8687',
  customer_id: 'acme',
  identity_id: '12b8d131-9fb4-49c2-ada0-d111c35dd757',
  account_id: '743af367-e7d6-4481-8abf-7a47e5ec2915',
  ref_id: 'acme-address-0001',
  crypto_network: 'BITCOIN',
  address: 'bc1q3333z333vaad5vgj023765cw88085fzd9juvqa',
  conversion_target_asset: 'NO_CONVERSION',
  compatible_crypto_networks: ['BITCOIN'],
  metadata: { label: 'wallet 1' },
  created_at: '2026-10-31T12:00:00Z',
}

test('addresses=X returns the record of address X', async () => {
  assertPage(await service.call(`${path}?addresses=${address.address}`), { items: [address] })
})

for (const [parameter, member] of [
  ['ids', 'id'],
  ['ref_ids', 'ref_id'],
  ['profile_ids', 'profile_id'],
  ['identity_ids', 'identity_id'],
  ['account_ids', 'account_id'],
  ['networks', 'crypto_network'],
] as const) {
  test(`${parameter} returns only the records with this ${member}`, async () => {
    const all = await service.call(`${path}?limit=1000`)
    const expected = all.body.items.filter(
      (item: Record<string, unknown>) => item[member] === address[member],
    )
    assert.ok(expected.length > 0)
    const called = await service.call(`${path}?limit=1000&${parameter}=${address[member]}`)
    assertPage(called, { items: expected })
  })
}

test('values of one filter are joined by OR, different filters by AND', async () => {
  const all = await service.call(`${path}?limit=1000`)
  const called = await service.call(
    `${path}?limit=1000&networks=BITCOIN&networks=STELLAR&profile_ids=${address.profile_id}`,
  )
  const expected = all.body.items.filter(
    (item: typeof address) =>
      ['BITCOIN', 'STELLAR'].includes(item.crypto_network) &&
      item.profile_id === address.profile_id,
  )
  assert.ok(expected.length > 10)
  assertPage(called, { items: expected })
})

test('the sandbox has addresses on all eleven networks', async () => {
  const all = await service.call(`${path}?limit=1000`)
  const networks = new Set(all.body.items.map((item: typeof address) => item.crypto_network))
  assert.deepEqual([...networks].toSorted(), cryptoNetworks.toSorted())
})
