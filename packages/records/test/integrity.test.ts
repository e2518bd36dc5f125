import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { asTenant, recordKinds, resources } from '@bursar/contract'
import { checkStored } from '@bursar/intake'
import { openTestStore, type TestStore } from '../../../test/support/record-store.ts'
import { aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'
import { reindexed } from '../../../test/support/reindexed.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { setLimits } from '../../../test/support/set-limits.ts'
import { flipped } from '../../../test/support/test-sealing.ts'
import { openWalk } from '../../../test/support/walk-store.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { worldRecords } from '../../sandbox/src/sample-records.ts'
import { StoreDamaged } from '../src/unavailable.ts'

let tested: TestStore
before(async () => {
  tested = await openTestStore()
})
beforeEach(() => tested.store.operator.clear())
after(() => tested.close())

const checked = () => checkStored(resources, tested.store.operator.rows)

const number = '123456789012'
const account = aFiatAccount({
  fiat_network_instructions: { scb: { account_number: number } },
  metadata: { note: 'kept' },
})
const acme = asTenant(String(account.customer_id))

/** Damage to the row of record 1, and what the check says about it. */
const damages: readonly (readonly [sql: string, fault: RegExp])[] = [
  [
    `update bursar.fiat_account set body = replace(body, 'kept', 'kfpt')`,
    /masked body does not match its checksum/,
  ],
  [
    `update bursar.fiat_account_full set ${flipped('body')}`,
    /its full body was changed, or belongs/,
  ],
  [`update bursar.fiat_account_full set body = '{"id"'`, /its full body was changed, or belongs/],
  [`update bursar.fiat_account set ref_id = 'other'`, /column ref_id differs/],
  [`update bursar.fiat_account set updated_at = 1`, /column updated_at differs/],
  [`update bursar.fiat_account set deleted_at = 1`, /mark and the time of its deletion differ/],
  [
    `update bursar.fiat_account_full set deleted = not deleted`,
    /only one of its two rows is deleted/,
  ],
  [`update bursar.fiat_account set checksum = 1`, /masked body does not match its checksum/],
  [`update bursar.fiat_account_full set checksum = 1`, /its full body was changed, or belongs/],
  [`delete from bursar.fiat_account_full`, /the full record is missing/],
  [`delete from bursar.fiat_account`, /the masked record is missing/],
]

describe('the check of stored records', () => {
  test('finds nothing in what imports stored, changed and deleted', async () => {
    const world = worldRecords()
    for (const kind of recordKinds) await tested.take(kind, world[kind].slice(-30))
    await tested.take('fiat-accounts', [account, aFiatAccount({ id: anId(2) })])
    await tested.take('fiat-accounts', [
      { ...account, status: 'APPROVED', source_version: 3 },
      aFiatAccount({ id: anId(2), deleted_at: '2026-02-01T00:00:00.123456Z' }),
    ])
    const { records, faults } = await checked()
    assert.deepEqual(faults, [])
    assert.ok(records > 10, String(records))
  })

  test('names each damaged record by kind and id, and no value of it', async () => {
    for (const [sql, fault] of damages) {
      await tested.store.operator.clear()
      await tested.take('fiat-accounts', [account])
      await tested.ask(sql)
      const { faults, faultCount } = await checked()
      assert.equal(faultCount, 1, sql)
      assert.match(faults[0] ?? '', fault, sql)
      assert.ok(faults[0]?.startsWith(`fiat-accounts ${anId(1)}: `), faults.join())
      assert.ok(!/1234|9012|kfpt|other/.test(faults.join()), faults.join())
    }
  })

  test('reads past its first batch and finds the one damaged record of 600', async () => {
    const many = Array.from({ length: 600 }, (_, at) =>
      aStatement({ id: anId(at + 1), ref_id: `r${at}` }),
    )
    await tested.take('statements', many)
    await tested.ask(`update bursar.statement set body = replace(body, '"r550"', '"r551"')
      where ref_id = 'r550'`)
    const { records, faults } = await checked()
    assert.equal(records, 600)
    assert.equal(faults.length, 1)
    assert.match(faults[0] ?? '', new RegExp(`^statements ${anId(551)}: .*checksum.*ref_id`))
  })

  test('an import of the same record mends it', async () => {
    for (const [sql] of damages) {
      // The time of the sort key and the deletion are not the import's to change.
      if (/deleted_at = 1|deleted = not/.test(sql)) continue
      await tested.store.operator.clear()
      await tested.take('fiat-accounts', [account])
      await tested.ask(sql)
      const report = await tested.take('fiat-accounts', [account], { allowOlder: true })
      assert.equal(report.faultCount, 0, sql)
      // A masked row that was lost is counted twice when it comes back.
      const isLost = sql === 'delete from bursar.fiat_account'
      const count = 'customer "acme" has 1 fiat-accounts, where 2 are kept'
      assert.deepEqual(await reindexed(tested.store, true), isLost ? [count] : [], sql)
      assert.deepEqual((await checked()).faults, [], sql)
    }
  })
})

/** What an export reads; the masked body and the derived columns are not in it. */
const damagesOfExport = [
  `update bursar.fiat_account_full set ${flipped('body')}`,
  `update bursar.fiat_account_full set checksum = 1`,
  `delete from bursar.fiat_account_full`,
  `delete from bursar.fiat_account`,
]

test('an export refuses a damaged record by kind and id', async () => {
  for (const sql of damagesOfExport) {
    await tested.store.operator.clear()
    await tested.take('fiat-accounts', [
      account,
      aFiatAccount({ id: anId(2), customer_id: 'globex' }),
    ])
    await tested.ask(`${sql} where customer =
      (select number from bursar.customer where id = '${account.customer_id}')`)
    await assert.rejects(tested.exported('fiat-accounts'), (error) => {
      assert.ok(error instanceof StoreDamaged, sql)
      assert.match(error.message, new RegExp(`^fiat-accounts ${anId(1)}: `), sql)
      return !error.message.includes('kfpt')
    })
  }
  await tested.take('statements', [aStatement({ id: anId(1), ref_id: 'kept' })])
  await tested.ask(`update bursar.statement set body = replace(body, 'kept', 'kfpt')`)
  await assert.rejects(tested.exported('statements'), StoreDamaged)
})

test('a past page refuses a replaced version that is not as it was stored, and names it', async () => {
  const accounts = [1, 2, 3].map((at) =>
    aFiatAccount({ id: anId(at), ref_id: `r${at}`, metadata: { note: 'kept' } }),
  )
  await tested.take('fiat-accounts', accounts)
  const [replaced] = accounts.slice(1)
  await tested.take('fiat-accounts', [{ ...replaced, status: 'APPROVED' }])
  const [first] = await tested.history(anId(2))
  const selection = { ...firstPage, asOf: first?.storedAt ?? 0n }
  const { resource } = fiatAccount.brief
  const read = (view: 'customer' | 'full', limit: number) =>
    tested.store.operator.pageAsOf(resource, acme, view, { ...selection, limit })
  const { rows, more } = await read('full', 2)
  assert.deepEqual([rows, more], [2, true])
  await tested.ask(`update bursar.history set ${flipped('body')}`)
  await assert.rejects(read('full', 3), (error) => {
    assert.ok(error instanceof StoreDamaged)
    assert.match(error.message, new RegExp(`a version of ${anId(2)} is not as it was stored`))
    return true
  })
  assert.equal((await read('customer', 3)).rows, 3)
  await tested.ask(`update bursar.history set masked = null`)
  await assert.rejects(read('customer', 3), StoreDamaged)
})

describe('a damaged record', () => {
  const get = () => tested.store.customers.get(acme, fiatAccount.full, anId(1), false)
  const page = () => tested.store.customers.page(acme, fiatAccount.brief, firstPage)
  const known = () => tested.store.damage.counts().get('fiat-accounts')
  const damageFirst = `update bursar.fiat_account_full set ${flipped('body')}
    where id = '${anId(1)}'`
  beforeEach(async () => {
    await tested.take('fiat-accounts', [account, aFiatAccount({ id: anId(2) })])
  })

  test('is refused by a get, known for a while, and answered again when it is mended', async (t) => {
    await tested.ask(damageFirst)
    await assert.rejects(get, StoreDamaged)
    assert.equal(known(), 1)
    await tested.take('fiat-accounts', [account])
    assert.match(String(await get()), /kept/)
    setLimits(t, { damageKnownMs: 0 })
    assert.equal(known(), undefined)
  })

  test('is found by the walk, and keeps no other record or list of its kind from its answer', async (t) => {
    setLimits(t, { damageKnownMs: 0 })
    const list = Buffer.from((await page()).items).toString()
    const walk = openWalk(tested.store)
    await tested.ask(damageFirst)
    await walk.round()
    assert.equal(known(), 1)
    const fault = 'its full body was changed, or belongs to a different record or version'
    assert.deepEqual(walk.said, [`fiat-accounts ${anId(1)}: ${fault}`])
    await assert.rejects(get, StoreDamaged)
    const intact = await tested.store.customers.get(acme, fiatAccount.full, anId(2), false)
    assert.equal(JSON.parse(String(intact)).id, anId(2))
    assert.equal(Buffer.from((await page()).items).toString(), list)
    await walk.round()
    assert.equal(walk.said.length, 1)
    await tested.take('fiat-accounts', [account])
    await walk.round()
    assert.equal(known(), undefined)
  })

  test('whose full record is missing is no unknown id', async () => {
    await tested.ask(`delete from bursar.fiat_account_full where id = '${anId(1)}'`)
    await assert.rejects(get, /the full record is missing/)
  })

  test('is an unknown id to every other customer', async () => {
    await tested.ask(damageFirst)
    await assert.rejects(get, StoreDamaged)
    const read = tested.store.customers.get(asTenant('globex'), fiatAccount.full, anId(1), false)
    assert.equal(await read, undefined)
  })
})
