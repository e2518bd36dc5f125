import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { resources } from '@bursar/contract'
import { describeStore } from '../../../../test/support/describe-store.ts'
import { rules } from '../../../../test/support/record-store.ts'
import {
  aDepositAddress,
  aFiatAccount,
  anId,
  aStatement,
  someDepositInstructions,
} from '../../../../test/support/records.ts'
import { checkStored } from '../../src/stored/check-stored.ts'
import { reindexKind } from '../../src/stored/reindex.ts'

const tested = describeStore()

async function reindex(writes: boolean) {
  const deps = { operator: tested.store.operator, rules, writes }
  const parts = await Promise.all(
    resources.map((resource) => Array.fromAsync(reindexKind(resource, deps))),
  )
  return {
    written: parts.flat().reduce((sum, { written }) => sum + written, 0),
    differences: parts.flat().flatMap(({ differences }) => differences),
  }
}

const address = aDepositAddress({ id: anId(5) })

async function fill(): Promise<void> {
  await tested.store.operator.clear()
  await tested.take('fiat-accounts', [
    aFiatAccount({ id: anId(1) }),
    aFiatAccount({ id: anId(2), customer_id: 'borealis', ref_id: 'second' }),
  ])
  await tested.take('statements', [aStatement({ id: anId(3) })])
  await tested.take('fiat-deposit-instructions', [someDepositInstructions({ id: anId(4) })])
  await tested.take('deposit-addresses', [address])
}

const of = (customer: string) =>
  `where customer = (select number from bursar.customer where id = '${customer}')`

/** What somebody changes past the program, and how each difference is said. */
const changes: readonly (readonly [sql: string, says: RegExp])[] = [
  [
    `update bursar.fiat_account set body = replace(body, 'PENDING', 'APPROVED') ${of('acme')}`,
    /^fiat-accounts \S+: the masked body does not match its checksum, its masked body differs/,
  ],
  [
    `delete from bursar.fiat_account ${of('acme')}`,
    /^(fiat-accounts \S+: the masked record is missing|customer "acme" has 0 fiat-accounts, where 1 .*)$/,
  ],
  [
    `update bursar.statement set status = 'SENT'`,
    /^statements \S+: the column status differs from its body$/,
  ],
  [
    `update bursar.fiat_account set terms = '[]' ${of('borealis')}`,
    /^fiat-accounts \S+: the (column terms differs from its body|index has a term that is not one of it)$/,
  ],
  ['delete from bursar.record_term', /^\S+ \S+: the index lacks terms of it$/],
  [
    `insert into bursar.record_term (scope, customer, since, term, sort, position)
       select scope, customer, since, term || 'x', sort, position from bursar.record_term
       where sort = '' order by term limit 1`,
    /^\S+ \S+: the index has a term that is not one of it$/,
  ],
  [
    `delete from bursar.unique_claim where kind = 'fiat-accounts' and value = '${anId(1)}'`,
    /^fiat-accounts \S+ of customer "acme": its value of id is not claimed, so another customer may/,
  ],
]

describe('reindex', () => {
  for (const [sql, says] of changes) {
    test(`says what follows from, and writes it again: ${sql}`, async () => {
      await fill()
      assert.deepEqual(await reindex(false), { written: 0, differences: [] })
      await tested.ask(sql)
      const shown = await reindex(false)
      assert.ok(shown.differences.length > 0)
      for (const { what } of shown.differences) assert.match(what, says)
      assert.ok((await checkStored(resources, tested.store.operator.rows)).faultCount > 0)
      const { differences, written } = await reindex(true)
      assert.equal(written, differences.length)
      assert.deepEqual(await reindex(false), { written: 0, differences: [] })
    })
  }

  test('replaces no record whose full form does not open, and says so', async () => {
    await fill()
    await tested.ask(`update bursar.fiat_account_full set checksum = checksum + 1 ${of('acme')}`)
    const { written, differences } = await reindex(true)
    assert.equal(written, 0)
    assert.equal(differences.length, 1)
    assert.match(String(differences[0]?.left), /its full record cannot be read/)
  })

  test('keeps the claims of a record that it cannot read, and of one that is gone', async () => {
    await fill()
    await tested.ask(`insert into bursar.unique_claim (value, kind, member, customer)
      select '${anId(99)}', 'fiat-accounts', 'id', number from bursar.customer where id = 'acme'`)
    await tested.ask(
      `update bursar.deposit_address set body = replace(body, 'ETHEREUM', 'ETHEREUN')`,
    )
    const claims = () => tested.ask('select count(*) from bursar.unique_claim')
    const before = await claims()
    const { differences, written } = await reindex(true)
    assert.equal(written, 0)
    assert.ok(differences.every(({ left }) => left !== undefined))
    assert.ok(differences.some(({ what }) => /is claimed, and no record has it$/.test(what)))
    assert.deepEqual(await claims(), before)
  })

  test('does not decide whether a record is deleted', async () => {
    await fill()
    for (const table of ['fiat_account', 'fiat_account_full']) {
      await tested.ask(`update bursar.${table} set deleted = not deleted ${of('acme')}`)
    }
    const { differences, written } = await reindex(true)
    assert.match(String(differences[0]?.what), /the mark and the time of its deletion differ/)
    assert.deepEqual([written, differences[0]?.left === undefined], [0, false])
  })

  test('gives a value that two customers have to neither', async () => {
    await fill()
    await tested.ask(`delete from bursar.unique_claim where kind = 'deposit-addresses'`)
    await tested.take('deposit-addresses', [
      { ...address, id: anId(6), customer_id: 'borealis', ref_id: 'twin' },
    ])
    await tested.ask(`delete from bursar.unique_claim where member = 'ETHEREUM'`)
    const { differences } = await reindex(true)
    const contested = differences.filter(({ left }) => left !== undefined)
    assert.equal(contested.length, 2)
    assert.match(String(contested[0]?.what), /not claimed, and another customer has it too$/)
    const claims = await tested.ask(
      `select count(*) from bursar.unique_claim where member = 'ETHEREUM'`,
    )
    assert.deepEqual(claims.flat().map(String), ['0'])
  })
})
