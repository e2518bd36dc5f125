import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RecordInput } from '@bursar/contract'
import { describeService } from '../../../../test/support/describe-service.ts'
import { lists } from '../../../../test/support/operation-calls.ts'
import { readAllPages } from '../../../../test/support/read-all-pages.ts'
import { take } from '../../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'

const service = describeService()

const owner = { person_details: { first_name: 'Canary-First', last_name: 'Canary-Last' } }
const address = {
  country: 'USA',
  address1: 'Canary Street 1',
  address2: 'Canary Floor',
  city: 'Canary City',
  province: 'CN',
  zip_code: '10004',
}
const routing = {
  routing_number_type: 'ABA',
  routing_number: '021000021',
  bank_name: 'First Sample Bank',
  bank_address: address,
}

async function importAccounts(...records: readonly RecordInput[]): Promise<void> {
  const { store } = service.parts
  const report = await take(store, 'fiat-accounts', records, { allowOlder: true })
  assert.deepEqual(report.faults, [])
}

const listed = async (id: string) => {
  const called = await service.call(`/v2/transfer/fiat-accounts?ids=${id}`)
  assert.equal(called.status, 200)
  assert.equal(called.body.items.length, 1)
  return { item: called.body.items[0], text: called.text }
}

/**
 * Contract, section 2.3; decisions, section 5: all but the last four characters become X. Blanks
 * are folded before the end is taken.
 */
const maskedNumbers = [
  ['12345678', 'XXXX5678'],
  ['12345', 'X2345'],
  ['1234', 'XXXX'],
  ['123', 'XXX'],
  ['1', 'X'],
  ['DE89 3704 0044', 'XXXXXXXXXX0044'],
  ['DE89 3704 0044 0532 0130 00', 'XXXXXXXXXXXXXXXXXXXXXXX3000'],
  ['12 34\u00a05', 'XXX2345'],
  [' 1 2 3 4 ', 'XXXXXXXXX'],
  ['x'.repeat(200), `${'X'.repeat(196)}xxxx`],
  ['🙂🙂🙂🙂🙂🙂', 'XX🙂🙂🙂🙂'],
] as const

describe('List Fiat Accounts', () => {
  for (const network of ['wire', 'dbs_act', 'scb', 'rtp']) {
    test(`shows only the last four characters of an account number of ${network}`, async () => {
      for (const [number, shown] of maskedNumbers) {
        const id = anId(900)
        const details =
          network === 'wire'
            ? {
                account_number: number,
                fiat_account_owner_address: address,
                routing_details: routing,
              }
            : network === 'rtp'
              ? { account_number: number, routing_details: { routing_number: '021000021' } }
              : { account_number: number }
        await importAccounts(
          aFiatAccount({ id, fiat_network_instructions: { [network]: details } }),
        )
        const { item } = await listed(id)
        const { [network]: listedDetails } = item.fiat_network_instructions
        assert.equal(listedDetails.account_number, shown, number)
        if (network === 'rtp')
          assert.deepEqual({ ...details, ...listedDetails, account_number: number }, details)
        const single = await service.call(`/v2/transfer/fiat-accounts/${id}`)
        assert.deepEqual(single.body.fiat_network_instructions, { [network]: details })
      }
    })
  }

  test('withholds names and addresses, and repeats status and metadata under wire', async () => {
    const id = anId(901)
    await importAccounts(
      aFiatAccount({
        id,
        status: 'APPROVED',
        ref_id: 'masked-account',
        fiat_account_owner: owner,
        metadata: { team: 'red' },
        fiat_network_instructions: {
          wire: {
            account_number: '99988877766',
            fiat_account_owner_address: address,
            routing_details: routing,
            intermediary_routing_details: { ...routing, bank_name: 'Between Bank' },
          },
          rtp: {
            account_number: '55544433322',
            routing_details: routing,
            fiat_account_owner_address: address,
          },
          cubix: { account_id: 'cubix-account' },
          cbit: { wallet_address: '0xWallet' },
        },
      }),
    )
    const { item, text } = await listed(id)
    const country = { country: 'USA' }
    const bank = { ...routing, bank_address: country }
    assert.deepEqual(item, {
      id,
      ref_id: 'masked-account',
      status: 'APPROVED',
      fiat_network_instructions: {
        wire: {
          account_number: 'XXXXXXX7766',
          fiat_account_owner_address: country,
          routing_details: bank,
          intermediary_routing_details: { ...bank, bank_name: 'Between Bank' },
          status: 'APPROVED',
          metadata: { team: 'red' },
        },
        rtp: {
          account_number: 'XXXXXXX3322',
          routing_details: bank,
          fiat_account_owner_address: country,
        },
        cubix: { account_id: 'cubix-account' },
        cbit: { wallet_address: '0xWallet' },
      },
      fiat_account_owner: {},
      metadata: { team: 'red' },
      created_at: '2026-01-01T00:00:00Z',
    })
    assert.doesNotMatch(text, /Canary/)
  })

  test('withholds an institution as it does a person, and omits the owner if there is none', async () => {
    const id = anId(902)
    for (const kind of [
      { institution_details: { name: 'Canary Holdings' } },
      { person_details: null, institution_details: { name: 'Canary Holdings' } },
      owner,
    ]) {
      await importAccounts(aFiatAccount({ id, fiat_account_owner: kind }))
      const { item, text } = await listed(id)
      assert.deepEqual(item.fiat_account_owner, {})
      assert.doesNotMatch(text, /Canary/)
    }
    await importAccounts(aFiatAccount({ id }))
    assert.equal('fiat_account_owner' in (await listed(id)).item, false)
  })

  test('omits metadata under wire if the account has none', async () => {
    const id = anId(903)
    await importAccounts(aFiatAccount({ id, status: 'REJECTED' }))
    const { item } = await listed(id)
    assert.equal(item.fiat_network_instructions.wire.status, 'REJECTED')
    assert.equal('metadata' in item.fiat_network_instructions.wire, false)
  })

  test('shows the new values after an account has changed', async () => {
    const id = anId(904)
    await importAccounts(aFiatAccount({ id, status: 'PENDING', metadata: { a: '1' } }))
    await importAccounts(aFiatAccount({ id, status: 'APPROVED', metadata: { b: '2' } }))
    const { item } = await listed(id)
    const { wire } = item.fiat_network_instructions
    assert.deepEqual([item.status, wire.status], ['APPROVED', 'APPROVED'])
    assert.deepEqual([item.metadata, wire.metadata], [{ b: '2' }, { b: '2' }])
  })

  test('shows no account number, name or street of any sandbox account', async () => {
    const list = lists.find(({ id }) => id === 'listFiatAccounts')
    assert.ok(list !== undefined)
    const { items } = await readAllPages(service, list, [['include_deleted', 'true']])
    for (const item of items) {
      const single = await service.call(
        `/v2/transfer/fiat-accounts/${item.id}?include_deleted=true`,
      )
      const text = JSON.stringify(item, (name, value) => (name === 'metadata' ? undefined : value))
      for (const secret of secretsOf(single.body)) {
        assert.equal(text.includes(JSON.stringify(secret)), false, `${item.id} shows ${secret}`)
      }
    }
  })
})

const withheld = [
  'account_number',
  'first_name',
  'last_name',
  'name',
  'address1',
  'address2',
  'city',
  'province',
  'zip_code',
]

function secretsOf(value: unknown, member = ''): string[] {
  if (typeof value === 'string') return withheld.includes(member) && value !== '' ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value)
    .filter(([name]) => name !== 'metadata')
    .flatMap(([name, inner]) => secretsOf(inner, name))
}

describe('views without masking', () => {
  test('deposit instructions are equal in the list and alone', async () => {
    const page = await service.call('/v2/transfer/fiat-deposit-instructions?limit=50')
    for (const item of page.body.items) {
      const single = await service.call(`/v2/transfer/fiat-deposit-instructions/${item.id}`)
      assert.deepEqual(single.body, item, item.id)
    }
  })

  test('no answer has members that are for the operator only', async () => {
    for (const list of lists) {
      const { items } = await readAllPages(service, list, [['include_deleted', 'true']])
      for (const item of items) {
        assert.equal('deleted_at' in item || 'source_version' in item, false, item.id)
      }
      if (list.id === 'listFiatAccounts' || list.id === 'listIssuerQuoteExecutions') {
        assert.ok(items.every((item) => !('customer_id' in item)))
      }
    }
  })
})
