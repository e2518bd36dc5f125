import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RecordInput } from '@bursar/contract'
import { describeStore } from '../../../test/support/describe-store.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { dialect } from '../../sqlite/src/dialect.ts'
import { searchLookUps } from '../src/search/search.ts'

const tested = describeStore()

const account = (id: number, bank_name: string, owner: RecordInput) =>
  aFiatAccount({
    id: anId(id),
    ref_id: `account-${id}`,
    fiat_network_instructions: {
      rtp: {
        account_number: String(id),
        routing_details: { routing_number: '021000021', bank_name },
      },
    },
    fiat_account_owner: owner,
  })

const institution = (name: string) => ({ institution_details: { name } })

const found = async (query: string) => {
  const search = { query, customerId: undefined, hitsMax: 1000, after: undefined }
  const { hits } = await tested.store.operator.search({ ...search, findsOwners: true })
  return hits.map(({ id, matched }) => `${id} ${matched}`)
}

test('a bank is found without its dots and ampersands, and common words find no other', async () => {
  await tested.take('fiat-accounts', [
    account(1, 'U.S. Bank, N.A.', institution('Zzyzx')),
    account(2, 'M & T Bank', institution('Zzyzx')),
    account(3, 'The Bank', institution('Zzyzx')),
    account(4, 'Bank of the West', institution('Zzyzx')),
  ])
  const hit = (...ids: readonly number[]) => ids.map((id) => `${anId(id)} bank_name`)
  assert.deepEqual(await found('us bank'), hit(1))
  assert.deepEqual(await found('US Bank National'), [])
  assert.deepEqual(await found('m&t'), hit(2))
  assert.deepEqual(await found('MT BANK'), hit(2))
  assert.deepEqual(await found('the bank'), hit(3))
  assert.deepEqual(await found('west'), hit(4))
})

test('a person is found by each part of the name and by the whole, initials too', async () => {
  const person = (first_name: string, last_name: string) => ({
    person_details: { first_name, last_name },
  })
  await tested.take('fiat-accounts', [
    account(1, 'Qxq', person('J. R.', 'R. Tolkien')),
    account(2, 'Qxq', person('J.', 'O')),
  ])
  const hit = (id: number) => [`${anId(id)} fiat_account_owner`]
  for (const query of ['J. R.', 'r. tolkien', 'J.R.R. TOLKIEN', 'jrr tolkien']) {
    assert.deepEqual(await found(query), hit(1), query)
  }
  for (const query of ['J. O', 'jo', 'j', 'O']) assert.deepEqual(await found(query), hit(2), query)
})

test('the stored terms of a record are in no order of its words, and each is once', async () => {
  const words = 'one two three four five six seven eight'
  await tested.take('fiat-accounts', [
    account(1, 'Sparkasse Aachen Bank', institution(words)),
    account(2, 'Aachen Sparkasse', institution(`${words.split(' ').toReversed().join(' ')} one`)),
  ])
  const rows = await tested.ask('select terms from bursar.fiat_account order by ref_id')
  const [one, other] = rows.map(([terms]) => JSON.parse(String(terms)))
  assert.equal(one.length, 2 + 8)
  assert.deepEqual(one, one.toSorted())
  assert.deepEqual(other, one)
})

test('a text is not looked up as what it cannot be', () => {
  const matchedBy = (query: string) => {
    const search = { query, customerId: undefined, hitsMax: 1, after: undefined }
    return new Set(searchLookUps(search, dialect).map(({ matched }) => matched))
  }
  const cases = [
    ['Jane Doe', ['id', 'memo_id', 'address', 'account_number']],
    ['Müller', ['id', 'memo_id', 'address', 'account_number']],
    ['ABCDEF1', ['id', 'address', 'account_number']],
    ['A'.repeat(17), ['id', 'memo_id', 'address', 'account_number']],
    ['5.73E+09', ['id', 'memo_id', 'ref_id', 'profile_id', 'account_id', 'identity_id']],
    [anId(1), ['memo_id', 'address', 'account_number']],
  ] as const
  for (const [query, absent] of cases) {
    const matched = matchedBy(query)
    assert.deepEqual(
      absent.filter((member) => matched.has(member)),
      [],
      query,
    )
    assert.ok(matched.has('bank_name'), query)
  }
})
