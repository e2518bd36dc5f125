import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { digestOf, limitNamed } from '@bursar/base'
import { asTenant, eventKinds, resources } from '@bursar/contract'
import { checkStored, renderRecord } from '@bursar/intake'
import { describeStore } from '../../../test/support/describe-store.ts'
import { rules, take } from '../../../test/support/record-store.ts'
import { aFiatAccount, anId, someDepositInstructions } from '../../../test/support/records.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { openPassingKeys, openTestSealing } from '../../../test/support/test-sealing.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { recordCheck } from '../../intake/src/check.ts'
import { eventContent } from '../src/records/events.ts'
import type { Store } from '../src/records.ts'
import { keepKeys } from '../src/sealing/customer-keys.ts'
import { openWithAny } from '../src/sealing/opening.ts'
import { StoreDamaged } from '../src/unavailable.ts'
import { walkKeys as walk } from './support/walk-keys.ts'

const tested = describeStore()
const kinds = { accounts: 'fiat-accounts', instructions: 'fiat-deposit-instructions' } as const

/** Of all tests, since the keys of customers stay between them. */
const sealing = openTestSealing()

const RECORDS = 130
const customerOf = (at: number) => (at % 2 === 0 ? 'globex' : 'acme')
const accountOf = (at: number, over: Parameters<typeof aFiatAccount>[0] = {}) =>
  aFiatAccount({
    id: anId(at),
    ref_id: `ref-${at}`,
    customer_id: customerOf(at),
    fiat_network_instructions: { scb: { account_number: `77${String(at).padStart(8, '0')}` } },
    fiat_account_owner: { institution_details: { name: `Zebedee Number${at}` } },
    ...over,
  })
const accounts = Array.from({ length: RECORDS }, (_, at) => accountOf(at + 1))
const instructions = ['acme', 'globex'].map((customer, at) =>
  someDepositInstructions({
    id: anId(5001 + at),
    customer_id: customer,
    memo_id: `MEMO00000000000${at}`,
    profile_id: `profile-${at}`,
  }),
)

/** A store with two versions of many accounts, and what a thief copied of its keys. */
async function openStored() {
  const open = () => tested.opened(sealing)
  const store = open()
  await take(store, kinds.accounts, accounts)
  const changed = accounts.map((account) => ({ ...account, status: 'APPROVED' }))
  await take(store, kinds.accounts, changed)
  await take(store, kinds.instructions, instructions)
  const stolen = await store.operator.keys.find(asTenant('acme'), true)
  assert.ok(stolen?.current)
  return { open, store, changed, stolen }
}

const put = async (store: Store, account: ReturnType<typeof aFiatAccount>) => {
  const checked = recordCheck(fiatAccount.resource, rules)(account)
  assert.ok('record' in checked)
  return await store.operator.put(fiatAccount.resource, {
    record: renderRecord(fiatAccount.resource, checked.record, 1),
    precondition: {},
    allowOlder: true,
    from: { command: 'PUT', clientId: 'core' },
  })
}

const found = async (store: Store, query: string) => {
  const search = { query, customerId: undefined, hitsMax: 1000, after: undefined }
  return (await store.operator.search({ ...search, findsOwners: true })).hits.length
}

const faultsOf = async (store: Store) => (await checkStored(resources, store.operator.rows)).faults

/** What every event and version of a customer is named by. */
async function namesOf(store: Store) {
  const selection = { kinds: new Set(eventKinds), order: 'ASC', after: undefined } as const
  const page = await store.customers.events(asTenant('acme')).page({ ...selection, limit: 500 })
  const name = { customerId: 'acme', id: anId(1) }
  const range = { after: undefined, versionsMax: 10 }
  const history = await store.operator.history(fiatAccount.resource, name, range)
  return [page.events.map(eventContent), history?.versions.map(({ version }) => version)]
}

describe('renewed purpose keys', () => {
  for (const purpose of ['customer-key', 'name-index'] as const) {
    test(`of ${purpose} leave nothing under the old ones, and everything else as it is`, async () => {
      const { open, store, changed, stolen } = await openStored()
      const names = await namesOf(store)
      sealing.renew(purpose)
      // A walk that was cut off: some are under the new keys, some are not.
      await walk(store, 3)
      const between = open()
      assert.deepEqual(await faultsOf(between), [])
      assert.equal((await take(between, kinds.accounts, changed)).unchanged, RECORDS)
      assert.equal((await take(between, kinds.instructions, instructions)).unchanged, 2)
      for (const at of [1, 2, RECORDS]) {
        const { outcome } = await put(between, accountOf(at, { status: 'APPROVED' }))
        assert.equal(outcome, 'unchanged')
      }
      assert.equal(await found(between, 'zebedee'), RECORDS)
      assert.deepEqual(await walk(store), [])
      sealing.retire()
      const after = open()
      assert.deepEqual(await namesOf(after), names)
      assert.deepEqual(await faultsOf(after), [])
      assert.equal((await take(after, kinds.accounts, changed)).unchanged, RECORDS)
      assert.equal(await found(after, 'zebedee'), RECORDS)
      assert.equal(await after.operator.resealing.customersLeft(), 0)
      await assertNothingUnder(stolen.current)
    })
  }

  test('bind numbers again, but not one that is not its customer’s', async () => {
    const { open, store } = await openStored()
    await tested.ask(`update bursar.customer set binding = '' where id = 'globex'`)
    sealing.renew('customer-number')
    const rebound = await Array.fromAsync(store.operator.resealing.rebind())
    assert.deepEqual(rebound, [{ bound: 1, refused: ['globex'] }])
    sealing.retire()
    const page = async (customer: string) =>
      (await open().customers.page(asTenant(customer), fiatAccount.brief, firstPage)).release?.()
    await page('acme')
    await assert.rejects(page('globex'), StoreDamaged)
  })
})

/** Tries a key of the customer on all that is stored of it. */
async function assertNothingUnder(key: Parameters<typeof digestOf>[0] | undefined) {
  assert.ok(key)
  const rows = await tested.ask(`
    select id, body, checksum from bursar.fiat_account_full
    union all select id, body, checksum from bursar.history where kind = 'fiat-accounts'`)
  for (const [id, body, checksum] of rows.map((row) => row.map(String))) {
    const stored = { customerId: 'acme', id: String(id), body: String(body) }
    const opened = openWithAny([key], fiatAccount.resource, {
      ...stored,
      checksum: Number(checksum),
    })
    assert.equal(opened, undefined)
    for (const account of accounts) {
      const text = JSON.stringify(account)
      assert.notEqual(digestOf(key, 'fiat-accounts', String(id), text), Number(checksum))
    }
  }
}

describe('what does not open in a walk', () => {
  test('keeps the key that it names, and no other one', async () => {
    const { open, store, stolen } = await openStored()
    await store.operator.resealing.rotate('acme')
    await tested.ask(`update bursar.fiat_account_full
      set body = substr(body, 1, 12) || 'AAAA' || substr(body, 17) where id = '${anId(1)}'`)
    assert.deepEqual(await walk(store), [anId(1)])
    const keys = await open().operator.keys.find(asTenant('acme'), true)
    assert.deepEqual([...(keys?.byId.keys() ?? [])].length, 2)
    assert.ok(keys?.byId.has(stolen.current?.id ?? ''))
    await store.operator.resealing.rotate('globex')
    assert.deepEqual(await walk(store), [])
    assert.equal((await open().operator.keys.find(asTenant('globex'), true))?.byId.size, 1)
    assert.equal((await faultsOf(open())).length, 1)
  })
})

describe('a customer whose key was lost', () => {
  test('is refused new records until somebody starts a new key', async () => {
    const { open, changed } = await openStored()
    await tested.ask(`delete from bursar.customer_key where customer_id = 'acme'`)
    const store = open()
    const one = accountOf(1, { status: 'REJECTED' })
    await assert.rejects(put(store, one), /the key of a customer with full records is missing/)
    await assert.rejects(take(store, kinds.accounts, [one]), StoreDamaged)
    assert.equal((await put(store, accountOf(2, { status: 'REJECTED' }))).outcome, 'changed')
    assert.equal(await store.operator.resealing.withoutKey(), 1)
    assert.equal(await store.operator.resealing.countLost('globex'), undefined)
    assert.equal(await store.operator.resealing.countLost('acme'), RECORDS + 1)
    await store.operator.resealing.startAnew('acme')
    assert.equal((await walk(store)).length, RECORDS + 1)
    assert.equal((await take(store, kinds.accounts, changed)).changed, RECORDS / 2 + 1)
    assert.equal((await take(store, kinds.instructions, instructions)).faultCount, 0)
    assert.deepEqual(await faultsOf(store), [])
  })

  test('keeps what remains of its key, which may open again', async () => {
    const { open, store, stolen } = await openStored()
    await tested.ask(`update bursar.customer_key set wrapped = 'v1.a.b.c'
      where customer_id = 'acme'`)
    const damaged = open()
    assert.equal(await damaged.operator.resealing.countLost('acme'), RECORDS + 1)
    await damaged.operator.resealing.startAnew('acme')
    assert.equal((await walk(damaged)).length, RECORDS + 1)
    const left = await tested.ask(`select id from bursar.customer_key where customer_id = 'acme'`)
    assert.equal(left.length, 2)
    assert.ok(left.flat().includes(stolen.current?.id))
    assert.equal(await store.operator.resealing.countLost('nobody'), undefined)
  })

  test('of deposit instructions alone is refused them too', async () => {
    const { open } = await openStored()
    const alone = someDepositInstructions({
      id: anId(5003),
      customer_id: 'initech',
      memo_id: 'MEMO000000000003',
      profile_id: 'profile-3',
    })
    await take(open(), kinds.instructions, [alone])
    await tested.ask(`delete from bursar.customer_key where customer_id = 'initech'`)
    await assert.rejects(take(open(), kinds.instructions, [alone]), StoreDamaged)
    assert.equal(await open().operator.resealing.withoutKey(), 1)
  })
})

test('keys in memory are read again after a minute, and at once when all are forgotten', async () => {
  using time = takeTime()
  const passing = openPassingKeys()
  let finds = 0
  const keys = keepKeys({
    ...passing,
    find: async () => {
      finds += 1
      return await passing.ensure(asTenant('acme'))
    },
  })
  await keys.find(asTenant('acme'), false)
  assert.ok(keys.known('acme'))
  await time.advance(limitNamed('customerKeysAgeMs'))
  assert.equal(keys.known('acme'), undefined)
  await keys.find(asTenant('acme'), false)
  assert.ok(keys.known('acme'))
  keys.forgetAll()
  assert.equal(keys.known('acme'), undefined)
  assert.equal(finds, 2)
})
