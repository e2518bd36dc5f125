import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@bursar/contract'
import { checkStored } from '@bursar/intake'
import { describeStore } from '../../../test/support/describe-store.ts'
import { resourceOf } from '../../../test/support/record-store.ts'
import { anId, aStatement } from '../../../test/support/records.ts'
import type { ErasePlace } from '../src/records/erasure.ts'
import { putOne } from './support/put-one.ts'

const tested = describeStore()

const balance = (owed: string, paid = '0', asset = 'USDG') => ({
  asset,
  amount_paid: paid,
  total_amount_owed: owed,
})

const short = (id: number, customer: string, owed: string, over: object = {}) =>
  aStatement({ id: anId(id), customer_id: customer, statement_balances: [balance(owed)], ...over })

/** The places by shortfall that are stored, with whose they are. */
const shortfalls = async () =>
  (
    await tested.ask(
      `select term, sort, case when scope = 0 then 'all' else 'own' end, owner.id
       from bursar.record_term join bursar.customer as owner on owner.number = record_term.customer
       where term like 'sshort %' order by term, sort, scope`,
    )
  ).map((row) => row.join(' '))

async function assertIntact() {
  const { faults } = await checkStored(resources, tested.store.operator.rows)
  assert.deepEqual(faults, [])
}

test('the terms of a record are stored, replaced and removed with it', async () => {
  await tested.take('statements', [short(1, 'acme', '100.50'), short(2, 'borealis', '7')])
  const ofBorealis = ['all', 'own'].map((scope) => `sshort GENERATED USDG 0017 ${scope} borealis`)
  assert.deepEqual(await shortfalls(), [
    ...ofBorealis,
    ...['all', 'own'].map((scope) => `sshort GENERATED USDG 0031005 ${scope} acme`),
  ])
  await assertIntact()
  await putOne(tested.store, 'statements', short(1, 'acme', '99'))
  assert.deepEqual((await shortfalls()).slice(2), [
    'sshort GENERATED USDG 00299 all acme',
    'sshort GENERATED USDG 00299 own acme',
  ])
  await assertIntact()
  await tested.take('statements', [
    aStatement({ id: anId(1), statement_balances: [balance('99', '99')] }),
  ])
  assert.deepEqual(await shortfalls(), ofBorealis)
  await assertIntact()
})

test('balances of one asset are added, and what was paid too much is no shortfall', async () => {
  const statement_balances = [
    balance('0.1', '0.05'),
    balance('.2', '0.1'),
    balance('5', '6', 'USDC'),
    balance('1', '0', 'A B:%'),
  ]
  await tested.take('statements', [aStatement({ statement_balances })])
  const own = (await shortfalls()).filter((row) => row.includes(' own '))
  assert.deepEqual(own, [
    'sshort GENERATED A%20B%3A%25 0011 own acme',
    'sshort GENERATED USDG 00015 own acme',
  ])
})

test('a withdrawn record and one that loses its id have no terms', async () => {
  await tested.take('statements', [short(1, 'acme', '1'), short(2, 'acme', '2')])
  const withdrawal = { withdraws: true, customerId: 'acme', id: anId(1) } as const
  await tested.store.operator.put(resourceOf('statements'), {
    record: withdrawal,
    precondition: {},
    allowOlder: false,
    from: { command: 'DELETE', clientId: 'core' },
  })
  assert.equal((await shortfalls()).length, 2)
  await assertIntact()
  await tested.take('statements', [short(2, 'borealis', '3')], { takeOver: true })
  assert.deepEqual(await shortfalls(), [
    'sshort GENERATED USDG 0013 all borealis',
    'sshort GENERATED USDG 0013 own borealis',
  ])
  await assertIntact()
  await tested.take('statements', [short(1, 'acme', '1')])
  assert.equal((await shortfalls()).length, 4)
  await assertIntact()
})

test('an erasure removes the terms of the customer, and those of no other', async () => {
  await tested.take('statements', [short(1, 'acme', '1'), short(2, 'borealis', '2')])
  let from: ErasePlace | undefined
  do from = (await tested.store.operator.eraseSome('acme', [], from)).next
  while (from !== undefined)
  const rows = await tested.ask(
    `select distinct owner.id from bursar.record_term
     join bursar.customer as owner on owner.number = record_term.customer`,
  )
  assert.deepEqual(rows, [['borealis']])
  await assertIntact()
})

test('the check of stored records names a record with a missing or a foreign term', async () => {
  const lacks = `statements ${anId(1)}: the index lacks terms of it`
  const another = `statements ${anId(1)}: the index has a term that is not one of it`
  const damages = {
    [`delete from bursar.record_term where scope = 0 and term like 'sshort %'`]: [lacks],
    [`update bursar.record_term set sort = 'USDG 0019' where term like 'sshort %' and scope > 0`]: [
      lacks,
      another,
    ],
    [`update bursar.record_term set since = 1 where term like 'sshort %' and scope = 0`]: [
      lacks,
      another,
    ],
  }
  for (const [damage, expected] of Object.entries(damages)) {
    await tested.store.operator.clear()
    await tested.take('statements', [short(1, 'acme', '1')])
    await tested.ask(damage)
    const { faults } = await checkStored(resources, tested.store.operator.rows)
    assert.deepEqual(faults, expected, damage)
  }
})
