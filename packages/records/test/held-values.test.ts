import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type RecordInput, resources } from '@bursar/contract'
import { checkStored } from '@bursar/intake'
import { openTestStore, type TestStore } from '../../../test/support/record-store.ts'
import { aDepositAddress, aFiatAccount, anId } from '../../../test/support/records.ts'
import { reindexed } from '../../../test/support/reindexed.ts'
import { putOne } from './support/put-one.ts'

async function openPlace(t: TestContext): Promise<TestStore> {
  const tested = await openTestStore()
  t.after(tested.close)
  return tested
}

const shared = ({ store }: TestStore) => reindexed(store, false)

const heldIn = ({ ask }: TestStore) =>
  ask(`select held.kind, held.member, held.value, owner.id from bursar.unique_claim as held
    join bursar.customer as owner on owner.number = held.customer order by 1, 2, 3`)

const put = (place: TestStore, record: RecordInput, takeOver = false) =>
  putOne(place.store, 'deposit-addresses', record, { takeOver })

const anAddress = (at: number): string => `0x${'12345678'.repeat(4)}${String(at).padStart(8, '0')}`

const ofBoth = aDepositAddress({ compatible_crypto_networks: ['ETHEREUM', 'BASE'] })
const ofBase = aDepositAddress({
  id: anId(2),
  customer_id: 'borealis',
  crypto_network: 'BASE',
  compatible_crypto_networks: ['BASE', 'INK'],
  created_at: '2026-01-02T00:00:00Z',
})

/** Two customers have the address on BASE, and the store has the claim of the older record. */
async function shareAddress(place: TestStore): Promise<void> {
  await put(place, ofBase)
  await place.ask(`delete from bursar.unique_claim where member = 'BASE'`)
  await put(place, ofBoth)
}

test('an address is held on each network where it receives', async (t) => {
  const place = await openPlace(t)
  await put(place, ofBoth)
  const reason = `are held by the deposit address ${anId(1)} of customer "acme" (0xF0Aa84466e353E5390be37FE2934301c07c19a55 on BASE); --take-over withdraws that record`
  const inAll = { ...ofBase, crypto_network: 'INK', compatible_crypto_networks: ['BASE', 'INK'] }
  assert.deepEqual(await put(place, inAll), {
    outcome: 'refused',
    faults: [{ member: 'crypto_network and address', code: 'held', reason }],
  })
  const { faults } = await place.take('deposit-addresses', [
    aDepositAddress({ id: anId(3), address: anAddress(1) }),
    inAll,
  ])
  assert.deepEqual(faults, [
    { line: 2, member: 'crypto_network and address', code: 'held', reason },
  ])
  const ofInk = { ...ofBase, crypto_network: 'INK', compatible_crypto_networks: ['INK'] }
  assert.equal((await put(place, ofInk)).outcome, 'added')
  assert.equal((await put(place, inAll, true)).outcome, 'changed')
  assert.equal(
    (await heldIn(place)).filter(([, member, , id]) => member === 'BASE' && id === 'borealis')
      .length,
    1,
  )
})

test('one file may not name two customers of an address on one network', async (t) => {
  const place = await openPlace(t)
  const { faults } = await place.take('deposit-addresses', [ofBoth, ofBase])
  assert.deepEqual(
    faults.map(({ line, code }) => [line, code]),
    [[2, 'repeated']],
  )
  const reason = `stands in line 1 too, in another customer's record`
  assert.equal(faults[0]?.reason, reason)
})

test('of two records that share an address the older one holds it, and the other may end that', async (t) => {
  const place = await openPlace(t)
  await shareAddress(place)
  const line = `deposit-addresses ${anId(2)} of customer "borealis": its value of BASE is claimed by customer "acme"`
  assert.deepEqual(await shared(place), [line])
  assert.deepEqual((await checkStored(resources, place.store.operator.rows)).conflicts, [line])
  // The other one is stored as it is, and may change only so that it lacks the network.
  assert.equal((await put(place, ofBase)).outcome, 'unchanged')
  assert.equal((await place.take('deposit-addresses', [ofBase])).faultCount, 0)
  const labelled = { ...ofBase, metadata: { label: 'x' } }
  assert.equal((await put(place, labelled)).outcome, 'refused')
  assert.equal((await put(place, { ...ofBoth, metadata: { label: 'x' } })).outcome, 'changed')
  const without = { ...labelled, crypto_network: 'INK', compatible_crypto_networks: ['INK'] }
  assert.equal((await put(place, without)).outcome, 'changed')
  assert.deepEqual(await shared(place), [])
})

test('once the older record lets a shared address go, the other one holds it', async (t) => {
  const place = await openPlace(t)
  await shareAddress(place)
  const third = { ...ofBase, id: anId(3), customer_id: 'third', compatible_crypto_networks: [] }
  await put(place, { ...ofBoth, compatible_crypto_networks: [] })
  const outcome = await put(place, third)
  assert.ok(outcome.outcome === 'refused')
  assert.match(outcome.faults[0]?.reason ?? '', new RegExp(`${anId(2)} of customer "borealis"`))
  assert.equal((await put(place, { ...ofBase, metadata: { label: 'x' } })).outcome, 'changed')
})

test('a take-over of a shared address withdraws every other record that has it', async (t) => {
  const place = await openPlace(t)
  await shareAddress(place)
  const third = { ...ofBase, id: anId(3), customer_id: 'third', compatible_crypto_networks: [] }
  assert.equal((await put(place, third, true)).outcome, 'added')
  const customers = (await heldIn(place)).filter(([, member]) => member === 'BASE')
  assert.deepEqual(
    customers.map((row) => row.at(-1)),
    ['third'],
  )
})

test('a take-over gives an id back to a record that is otherwise as it was', async (t) => {
  const place = await openPlace(t)
  const [own, other] = ['acme', 'borealis'].map((customer_id) => aFiatAccount({ customer_id }))
  assert.ok(own !== undefined && other !== undefined)
  await place.take('fiat-accounts', [own])
  await place.take('fiat-accounts', [other], { takeOver: true })
  const report = await place.take('fiat-accounts', [own], { takeOver: true })
  assert.deepEqual([report.changed, report.withdrawn, report.unchanged], [1, 1, 0])
  const again = await place.take('fiat-accounts', [own], { takeOver: true })
  assert.deepEqual([again.changed, again.withdrawn, again.unchanged], [0, 0, 1])
})
