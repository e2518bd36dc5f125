import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { asTenant, type ListView, recordKinds } from '@bursar/contract'
import { openTestStore, resourceOf, type TestStore } from '../../../test/support/record-store.ts'
import {
  aDepositAddress,
  aFiatAccount,
  anId,
  aStatement,
  someDepositInstructions,
} from '../../../test/support/records.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { statement } from '../../contract/src/resources/statement.ts'
import { worldRecords } from '../../sandbox/src/sample-records.ts'
import type { ImportReport } from '../src/files/import-file.ts'

let tested: TestStore
before(async () => {
  tested = await openTestStore()
})
beforeEach(() => tested.store.operator.clear())
after(() => tested.close())

const nothing = { added: 0, changed: 0, unchanged: 0 }
const counts = ({ added, changed, unchanged }: typeof nothing) => ({ added, changed, unchanged })

/** Asserts that a report has one fault. */
const assertFault = (
  { faults }: Pick<ImportReport, 'faults'>,
  line: number,
  member: string,
  code: string,
  reason: string,
): void => assert.deepEqual(faults, [{ line, member, code, reason }])

describe('an import', () => {
  test('adds new records, replaces changed ones and leaves the rest', async () => {
    await tested.take('fiat-accounts', [aFiatAccount(), aFiatAccount({ id: anId(2) })])
    const report = await tested.take('fiat-accounts', [
      aFiatAccount(),
      aFiatAccount({ id: anId(2), status: 'APPROVED' }),
      aFiatAccount({ id: anId(3) }),
    ])
    assert.deepEqual(counts(report), { added: 1, changed: 1, unchanged: 1 })
    const stored = await tested.exported('fiat-accounts')
    assert.deepEqual(
      stored.map(({ status }) => status),
      ['PENDING', 'APPROVED', 'PENDING'],
    )
  })

  test('changes the revision of the customers and the kind whose records change', async () => {
    const revisionOf = async (customer: string, view: ListView) => {
      const { customers } = tested.store
      return (await customers.page(asTenant(customer), view, firstPage)).revision.changedAt
    }
    const revisions = async () => [
      await revisionOf('acme', fiatAccount.brief),
      await revisionOf('borealis', fiatAccount.brief),
      await revisionOf('acme', statement.full),
    ]
    const others = [aFiatAccount({ id: anId(2), customer_id: 'borealis' })]
    await tested.take('fiat-accounts', [aFiatAccount(), ...others])
    await tested.take('statements', [aStatement()])
    const before = await revisions()
    await tested.take('fiat-accounts', [aFiatAccount({ status: 'APPROVED' }), ...others])
    const [accounts, ...rest] = await revisions()
    assert.ok(Number(accounts) > Number(before[0]), `${before[0]} -> ${accounts}`)
    assert.deepEqual(rest, before.slice(1))
    await tested.take('fiat-accounts', [aFiatAccount({ status: 'APPROVED' }), ...others])
    assert.deepEqual(await revisions(), [accounts, ...rest], 'nothing changed')
  })

  test('counts an equal record in another spelling as unchanged', async () => {
    await tested.take('fiat-accounts', [
      aFiatAccount({ metadata: { b: '1', a: '2' }, created_at: '2026-01-01T01:00:00+01:00' }),
    ])
    const report = await tested.take('fiat-accounts', [
      aFiatAccount({
        id: anId(1).toUpperCase(),
        metadata: { a: '2', b: '1' },
        created_at: '2026-01-01T00:00:00.000000Z',
      }),
    ])
    assert.deepEqual(counts(report), { ...nothing, unchanged: 1 })
  })

  test('changes nothing when one record of several has a fault', async () => {
    const report = await tested.take('fiat-accounts', [
      aFiatAccount(),
      aFiatAccount({ id: anId(2), status: 'CLOSED' }),
      aFiatAccount({ id: anId(3) }),
    ])
    assertFault(report, 2, 'status', 'unknown_value', 'must be PENDING, APPROVED or REJECTED')
    assert.deepEqual(await tested.exported('fiat-accounts'), [])
  })

  test('changes nothing on a dry run and reports the counts', async () => {
    const report = await tested.take('fiat-accounts', [aFiatAccount()], { dryRun: true })
    assert.deepEqual(counts(report), { ...nothing, added: 1 })
    assert.deepEqual(await tested.exported('fiat-accounts'), [])
  })

  test('refuses an id with two contents, naming both lines, and imports an equal repeat once', async () => {
    const refused = await tested.take('fiat-accounts', [
      aFiatAccount(),
      aFiatAccount({ id: anId(2) }),
      aFiatAccount({ status: 'APPROVED' }),
    ])
    assertFault(refused, 3, 'id', 'repeated', 'stands in line 1 too, with other content')
    const taken = await tested.take('fiat-accounts', [aFiatAccount(), aFiatAccount()])
    assert.deepEqual(counts(taken), { added: 1, changed: 0, unchanged: 1 })
  })

  test('reports the first 1,000 conflicts and counts all of them', async () => {
    const ids = Array.from({ length: 1200 }, (_, at) => anId(at + 1))
    const ofCustomer = (customer_id: string, fields = {}) =>
      ids.map((id) => aFiatAccount({ id, customer_id, ...fields }))
    const clash = (line: number) => ({ line, member: 'ref_id', code: 'repeated', reason: lineOne })
    const lineOne = 'stands in line 1 too, in another record'
    const within = await tested.take('fiat-accounts', ofCustomer('acme', { ref_id: 'r' }))
    assert.deepEqual([within.faultCount, within.faults.length], [1199, 1000])
    assert.deepEqual([within.faults[0], within.faults[999]], [clash(2), clash(1001)])

    await tested.take('fiat-accounts', ofCustomer('acme'))
    const stored = await tested.take('fiat-accounts', ofCustomer('borealis'))
    assert.deepEqual([stored.faultCount, stored.faults.length], [1200, 1000])
    assert.deepEqual([stored.faults[0]?.line, stored.faults[999]?.line], [1, 1000])
  })

  test('finds one repeated id among thousands in linear time', async () => {
    const accounts = Array.from({ length: 6000 }, (_, at) => aFiatAccount({ id: anId(at) }))
    const report = await tested.take('fiat-accounts', [...accounts, aFiatAccount({ id: anId(0) })])
    assert.deepEqual(counts(report), { added: 6000, changed: 0, unchanged: 1 })
  })

  test('keeps every replaced version and the times when it was in force', async () => {
    await tested.take('fiat-accounts', [aFiatAccount()])
    await tested.take('fiat-accounts', [aFiatAccount({ status: 'APPROVED' })])
    await tested.take('fiat-accounts', [aFiatAccount({ status: 'REJECTED' })])
    const versions = await tested.history(anId(1))
    assert.deepEqual(
      versions.map(({ body }) => JSON.parse(body).status),
      ['PENDING', 'APPROVED'],
    )
    assert.equal(versions[0]?.replacedAt, versions[1]?.storedAt)
  })
})

describe('a stored id', () => {
  test('keeps its created_at', async () => {
    await tested.take('fiat-accounts', [aFiatAccount()])
    const report = await tested.take('fiat-accounts', [
      aFiatAccount({ created_at: '2026-01-01T00:00:00.000001Z' }),
    ])
    assertFault(report, 1, 'created_at', 'fixed', 'must stay as it was first stored')
  })

  test('keeps its period_start, for a statement', async () => {
    await tested.take('statements', [aStatement()])
    const report = await tested.take('statements', [
      aStatement({ period_start: '2026-01-02T00:00:00Z' }),
    ])
    assertFault(report, 1, 'period_start', 'fixed', 'must stay as it was first stored')
  })

  test('is refused for another customer, and the operator sees who has its id', async () => {
    await tested.take('fiat-accounts', [aFiatAccount()])
    const report = await tested.take('fiat-accounts', [aFiatAccount({ customer_id: 'borealis' })])
    assertFault(
      report,
      1,
      'id',
      'held',
      `is held by the fiat account ${anId(1)} of customer "acme"; --take-over withdraws that record`,
    )
  })
})

const instructions = resourceOf('fiat-deposit-instructions')

const heldByAcme = (at: number) =>
  `are held by the deposit address ${anId(at)} of customer "acme"; --take-over withdraws that record`

describe('a unique value', () => {
  test('is the ref_id among the records of a customer, also deleted ones', async () => {
    await tested.take('fiat-accounts', [
      aFiatAccount({ ref_id: 'r', deleted_at: '2026-02-01T00:00:00Z' }),
    ])
    const report = await tested.take('fiat-accounts', [aFiatAccount({ id: anId(2), ref_id: 'r' })])
    assertFault(
      report,
      1,
      'ref_id',
      'taken',
      'is already the ref_id of another fiat account of this customer',
    )
  })

  test('is the ref_id of a record that has lost its id to another customer', async () => {
    const lost = aFiatAccount({ ref_id: 'r' })
    const taker = { ...lost, customer_id: 'borealis' }
    const own = aFiatAccount({ id: anId(2), ref_id: 'r' })
    await tested.take('fiat-accounts', [lost])
    const reason = 'is already the ref_id of another fiat account of this customer'
    const takeOver = { takeOver: true }
    assertFault(
      await tested.take('fiat-accounts', [taker, own], takeOver),
      2,
      'ref_id',
      'taken',
      reason,
    )
    assert.equal((await tested.take('fiat-accounts', [taker], takeOver)).withdrawn, 1)
    const changed = { ...taker, status: 'APPROVED' }
    assertFault(await tested.take('fiat-accounts', [changed, own]), 2, 'ref_id', 'taken', reason)
  })

  test('may be the ref_id of two customers', async () => {
    const report = await tested.take('fiat-accounts', [
      aFiatAccount({ ref_id: 'r' }),
      aFiatAccount({ id: anId(2), customer_id: 'borealis', ref_id: 'r' }),
    ])
    assert.deepEqual(counts(report), { ...nothing, added: 2 })
  })

  test('may be swapped by two records of one file', async () => {
    const a = aFiatAccount({ ref_id: 'one' })
    const b = aFiatAccount({ id: anId(2), ref_id: 'two' })
    await tested.take('fiat-accounts', [a, b])
    const report = await tested.take('fiat-accounts', [
      { ...a, ref_id: 'two' },
      { ...b, ref_id: 'one' },
    ])
    assert.deepEqual(counts(report), { ...nothing, changed: 2 })
  })

  test('is the ref_id within one file', async () => {
    const report = await tested.take('fiat-accounts', [
      aFiatAccount({ ref_id: 'r' }),
      aFiatAccount({ id: anId(2), ref_id: 'r' }),
    ])
    assertFault(report, 2, 'ref_id', 'repeated', 'stands in line 1 too, in another record')
  })

  test('is the memo across customers', async () => {
    await tested.take('fiat-deposit-instructions', [someDepositInstructions()])
    const report = await tested.take('fiat-deposit-instructions', [
      someDepositInstructions({ id: anId(2), customer_id: 'borealis' }),
    ])
    assertFault(
      report,
      1,
      'memo_id',
      'held',
      `is held by the ${instructions.noun} ${anId(1)} of customer "acme"; --take-over withdraws that record`,
    )
  })

  test('is an address of one network, which belongs to one customer', async () => {
    await tested.take('deposit-addresses', [aDepositAddress()])
    const own = await tested.take('deposit-addresses', [aDepositAddress({ id: anId(2) })])
    assert.equal(own.added, 1)
    const elsewhere = await tested.take('deposit-addresses', [
      aDepositAddress({
        id: anId(3),
        customer_id: 'borealis',
        crypto_network: 'BASE',
        compatible_crypto_networks: ['BASE'],
      }),
    ])
    assert.equal(elsewhere.added, 1)
    const foreign = await tested.take('deposit-addresses', [
      aDepositAddress({ id: anId(4), customer_id: 'borealis' }),
    ])
    assertFault(foreign, 1, 'crypto_network and address', 'held', heldByAcme(1))
  })

  const cash = 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a'
  const spellings: readonly [network: string, first: string, other: string][] = [
    [
      'ETHEREUM',
      '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
      '0xf0aa84466e353e5390be37fe2934301c07c19a55',
    ],
    [
      'BITCOIN',
      'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
      'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
    ],
    ['BITCOIN_CASH', cash, cash.replace('bitcoincash:', '').toUpperCase()],
  ]
  for (const [network, first, other] of spellings) {
    test(`is an address of ${network} in any spelling, stored as it was sent`, async () => {
      const at = { crypto_network: network, compatible_crypto_networks: [network] }
      const ofAcme = aDepositAddress({ ...at, address: first })
      const ofBorealis = aDepositAddress({
        ...at,
        id: anId(2),
        customer_id: 'borealis',
        address: other,
      })
      const member = 'crypto_network and address'
      const inOneFile = await tested.take('deposit-addresses', [ofAcme, ofBorealis])
      assertFault(
        inOneFile,
        2,
        member,
        'repeated',
        "stands in line 1 too, in another customer's record",
      )
      await tested.take('deposit-addresses', [ofAcme])
      const later = await tested.take('deposit-addresses', [ofBorealis])
      assertFault(later, 1, member, 'held', heldByAcme(1))
      const [stored] = await tested.exported('deposit-addresses')
      assert.equal(stored?.address, first)
    })
  }
})

describe('an older record', () => {
  test('is refused by its updated_at, and accepted with allowOlder', async () => {
    await tested.take('fiat-accounts', [
      aFiatAccount({ status: 'APPROVED', updated_at: '2026-03-02T00:00:00Z' }),
    ])
    const older = [aFiatAccount({ updated_at: '2026-03-01T00:00:00Z' })]
    const refused = await tested.take('fiat-accounts', older)
    assertFault(
      refused,
      1,
      'updated_at',
      'older',
      'is older than what is stored; --allow-older takes it all the same',
    )
    const taken = await tested.take('fiat-accounts', older, { allowOlder: true })
    assert.equal(taken.changed, 1)
  })

  test('is refused by its source_version, so PAID does not go back to GENERATED', async () => {
    await tested.take('statements', [
      aStatement({ status: 'STATEMENT_STATUS_PAID', source_version: 7 }),
    ])
    const refused = await tested.take('statements', [aStatement({ source_version: 6 })])
    assert.equal(refused.faults[0]?.member, 'source_version')
    const [stored] = await tested.exported('statements')
    assert.equal(stored?.status, 'STATEMENT_STATUS_PAID')
  })

  test('is suspected where only the stored record has a source_version', async () => {
    await tested.take('statements', [
      aStatement({ status: 'STATEMENT_STATUS_PAID', source_version: 5 }),
    ])
    const unversioned = [aStatement()]
    const refused = await tested.take('statements', unversioned)
    assert.equal(refused.faults[0]?.member, 'source_version')
    const taken = await tested.take('statements', unversioned, { allowOlder: true })
    assert.equal(taken.changed, 1)
  })

  test('is judged by source_version before updated_at', async () => {
    await tested.take('fiat-accounts', [
      aFiatAccount({ source_version: 1, updated_at: '2026-03-02T00:00:00Z' }),
    ])
    const report = await tested.take('fiat-accounts', [
      aFiatAccount({ source_version: 2, updated_at: '2026-03-01T00:00:00Z' }),
    ])
    assert.equal(report.changed, 1)
  })
})

describe('deletion', () => {
  const deleted = aFiatAccount({ deleted_at: '2026-02-01T00:00:00Z' })
  const shown = (includeDeleted: boolean) =>
    tested.store.customers.get(asTenant('acme'), fiatAccount.full, anId(1), includeDeleted)

  test('hides an account unless deleted ones are included, and never shows deleted_at', async () => {
    await tested.take('fiat-accounts', [deleted])
    assert.equal(await shown(false), undefined)
    const body = (await shown(true)) ?? ''
    assert.equal(JSON.parse(body).id, anId(1))
    assert.ok(!body.includes('deleted_at'))
  })

  test('stays when the next file does not mention it', async () => {
    await tested.take('fiat-accounts', [deleted])
    const report = await tested.take('fiat-accounts', [aFiatAccount({ status: 'APPROVED' })])
    assert.equal(report.changed, 1)
    assert.equal(await shown(false), undefined)
    assert.notEqual(await shown(true), undefined)
  })

  test('ends with an explicit null', async () => {
    await tested.take('fiat-accounts', [deleted])
    await tested.take('fiat-accounts', [aFiatAccount({ deleted_at: null })])
    assert.notEqual(await shown(false), undefined)
  })
})

test('an export of each kind imports as the same records, byte for byte, and changes nothing where they are', async () => {
  const [first, second] = [await openTestStore(), await openTestStore()]
  const world = worldRecords()
  for (const kind of recordKinds) {
    const { length } = world[kind]
    assert.equal((await first.take(kind, world[kind])).added, length, kind)
    const exported = await first.exported(kind)
    assert.equal(exported.length, length, kind)
    assert.equal((await second.take(kind, exported)).added, length, kind)
    assert.equal(JSON.stringify(await second.exported(kind)), JSON.stringify(exported), kind)
    assert.equal((await first.take(kind, exported)).unchanged, length, kind)
  }
  await Promise.all([first.close(), second.close()])
})
