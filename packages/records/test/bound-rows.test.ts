import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asTenant, type RecordKind } from '@bursar/contract'
import { checkStored, renderRecord } from '@bursar/intake'
import { describeStore } from '../../../test/support/describe-store.ts'
import { resourceOf } from '../../../test/support/record-store.ts'
import { anId, samples, someDepositInstructions } from '../../../test/support/records.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { testSealing } from '../../../test/support/test-sealing.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { fiatDepositInstructions } from '../../contract/src/resources/fiat-deposit-instructions.ts'
import { bodyChecksum } from '../src/integrity/checksum.ts'
import { StoreDamaged } from '../src/unavailable.ts'

const tested = describeStore()
const kind = 'fiat-deposit-instructions'
const { full: view, resource } = fiatDepositInstructions
const [acme, globex] = [asTenant('acme'), asTenant('globex')]
const instructionsOf = (at: number, over = {}) =>
  someDepositInstructions({
    id: anId(at),
    customer_id: at % 2 === 0 ? globex : acme,
    memo_id: `MEMO${String(at).padStart(12, '0')}`,
    profile_id: `profile-${at}`,
    ref_id: `ref-${at}`,
    ...over,
  })
const page = async () => {
  const { items, release } = await tested.store.customers.page(acme, view, firstPage)
  const text = `[${Buffer.from(items).toString()}]`
  release?.()
  return JSON.parse(text).map(({ id }: { id: string }) => id)
}
/** By a member, because an id is a part of the position on the embedded store. */
const at = (id: number, row = '') => `where ${row}ref_id = 'ref-${id}'`
const instructions = 'bursar.fiat_deposit_instructions'
/** The same row, with what another one has in some columns. */
const copied = (from: number, to: number, columns: readonly string[]) =>
  `update ${instructions} set ${columns
    .map(
      (column) =>
        `${column} = (select other.${column} from ${instructions} as other ${at(from, 'other.')})`,
    )
    .join(', ')} ${at(to)}`

/** Swaps what two customers have in a column, which is unique. */
const swapped = (column: string, spare: string): readonly string[] => {
  const old = `(select ${column} from bursar.customer where id = 'acme')`
  return column === 'id'
    ? [
        `update bursar.customer set id = '${spare}' where id = 'acme'`,
        `update bursar.customer set id = 'acme' where id = 'globex'`,
        `update bursar.customer set id = 'globex' where id = '${spare}'`,
      ]
    : [`update bursar.customer set ${column} = ${old} where id = 'globex'`]
}

describe('the number of a customer', () => {
  const reads: Readonly<Record<string, () => Promise<unknown>>> = {
    'a list': () => tested.store.customers.page(acme, fiatAccount.brief, firstPage),
    'a list by a filter': () =>
      tested.store.customers.page(acme, fiatAccount.brief, {
        ...firstPage,
        anyOf: [{ column: 'id', values: [anId(2)] }],
      }),
    'a get': () => tested.store.customers.get(acme, fiatAccount.full, anId(1), false),
    "a get of the other one's record": () =>
      tested.store.customers.get(acme, fiatAccount.full, anId(2), false),
    'a past page': () =>
      tested.store.customers.pageAsOf(acme, fiatAccount.brief, { ...firstPage, asOf: 1n << 60n }),
    events: () =>
      tested.store.customers
        .events(acme, true)
        .page({ kinds: new Set(['fiat-accounts']), order: 'ASC', after: undefined, limit: 10 }),
    'an import': () => tested.take('fiat-accounts', [samples['fiat-accounts']({ id: anId(5) })]),
  }

  test('that was swapped is found by each read and write, until it is mended', async () => {
    await tested.take('fiat-accounts', [
      samples['fiat-accounts']({ id: anId(1) }),
      samples['fiat-accounts']({ id: anId(2), customer_id: globex, ref_id: 'other' }),
    ])
    // What a process has compared is in its memory.
    for (const read of Object.values(reads).slice(0, -1)) await read()
    const bindings = [
      [],
      // The bindings go with the ids.
      [
        `update bursar.customer set binding = 'x' || binding where id = 'acme'`,
        `update bursar.customer set binding = (select substr(other.binding, 2)
          from bursar.customer as other where other.id = 'acme') where id = 'globex'`,
      ],
      [`update bursar.customer set binding = ''`],
    ]
    const kept = await tested.ask('select number, binding from bursar.customer order by number')
    for (const forged of bindings) {
      for (const sql of [...swapped('id', 'spare'), ...forged]) await tested.ask(sql)
      for (const [name, read] of Object.entries(reads)) {
        await assert.rejects(read, StoreDamaged, `${name} ${forged.join()}`)
      }
      assert.equal(tested.store.damage.counts().get('customers'), 1)
      const { faults } = await checkStored([], tested.store.operator.rows)
      assert.equal(faults.length, 2, faults.join())
      for (const sql of swapped('id', 'spare')) await tested.ask(sql)
      for (const [number, binding] of kept) {
        await tested.ask(
          `update bursar.customer set binding = '${binding}' where number = ${number}`,
        )
      }
      assert.deepEqual((await checkStored([], tested.store.operator.rows)).faults, [])
    }
    assert.ok(await tested.store.customers.get(acme, fiatAccount.full, anId(1), false))
  })

  test('is bound by each way in which a customer gets its first record', async () => {
    await tested.take('deposit-addresses', [samples['deposit-addresses']()])
    // More than are bound together, behind some that are bound.
    const many = Array.from({ length: 1201 }, (_, one) =>
      samples.statements({ id: anId(one + 9), customer_id: `many-${one}`, ref_id: `many-${one}` }),
    )
    await tested.take('statements', many.slice(0, 100))
    await tested.take('statements', many)
    await tested.store.operator.put(resource, {
      record: renderRecord(resource, instructionsOf(2, { customer_id: 'initech' }), 0),
      precondition: {},
      allowOlder: false,
      from: { command: 'PUT', clientId: 'tests' },
    })
    assert.deepEqual((await checkStored([], tested.store.operator.rows)).faults, [])
    const counted = await tested.ask(`select count(*), sum(case when binding = '' then 1 else 0 end)
      from bursar.customer`)
    const [all, unbound] = counted[0] ?? []
    assert.ok(Number(all) >= 1203)
    assert.equal(Number(unbound), 0)
  })
})

describe('instructions to which customers pay', () => {
  const forged = (body: string) => {
    const sum = bodyChecksum('acme', body)
    return `update ${instructions} set body = '${body}', checksum = ${sum} ${at(1)}`
  }
  /** What is done to the rows 1 and 3 of a customer, and 2 of another one. */
  const tamperings: readonly (readonly [
    name: string,
    refused: number,
    sql: () => Promise<readonly string[]>,
  ])[] = [
    [
      'an edited body with a CRC',
      1,
      async () => {
        const [[body] = []] = await tested.ask(`select body from ${instructions} ${at(1)}`)
        return [forged(String(body).replace('cubix-1', 'cubix-2'))]
      },
    ],
    ['the body of another customer', 1, async () => [copied(2, 1, ['body', 'checksum'])]],
    ['the body of another record', 1, async () => [copied(3, 1, ['body', 'checksum'])]],
    [
      'a row that is moved to another customer',
      2,
      async () => [
        `update ${instructions} set customer =
          (select number from bursar.customer where id = 'acme') ${at(2)}`,
      ],
    ],
    ['a wrong checksum', 3, async () => [`update ${instructions} set checksum = 1 ${at(3)}`]],
  ]

  for (const [name, refused, sql] of tamperings) {
    test(`are refused by gets and checks, and shown by lists: ${name}`, async () => {
      await tested.take(
        kind,
        [1, 2, 3].map((id) => instructionsOf(id)),
      )
      for (const one of await sql()) await tested.ask(one)
      assert.ok((await page()).length >= 2)
      await assert.rejects(
        tested.store.customers.get(acme, view, anId(refused), false),
        StoreDamaged,
      )
      const { faults } = await checkStored([resource], tested.store.operator.rows)
      assert.ok(faults.length > 0)
      assert.equal(tested.store.damage.counts().get(kind), 1)
    })
  }

  test('are refused without the key of their customer', async () => {
    await tested.take(kind, [instructionsOf(1)])
    await tested.ask(`delete from bursar.customer_key`)
    const other = tested.opened(testSealing)
    await assert.rejects(
      other.customers.get(acme, view, anId(1), false),
      /the key of its customer is missing/,
    )
  })

  test('are refused in the past, and mended by an import', async () => {
    await tested.take(kind, [instructionsOf(1)])
    const asOf = 1n << 60n
    const past = () => tested.store.customers.pageAsOf(acme, view, { ...firstPage, asOf })
    assert.equal((await past()).rows, 1)
    await tested.ask(`update ${instructions} set checksum = checksum + 1`)
    await assert.rejects(past(), StoreDamaged)
    assert.equal((await tested.take(kind, [instructionsOf(1)])).changed, 1)
    assert.equal((await past()).rows, 1)
    assert.deepEqual(await page(), [anId(1)])
  })

  test('have a forged filter column found by the check, and no other kind a key', async () => {
    await tested.take(kind, [instructionsOf(1)])
    await tested.ask(`update ${instructions} set profile_id = 'other'`)
    const { faults } = await checkStored([resource], tested.store.operator.rows)
    assert.match(faults.join(), /column profile_id differs/)
    const keyed = (
      ['deposit-addresses', 'statements'] as const satisfies readonly RecordKind[]
    ).map((other) => resourceOf(other).isPaidTo)
    assert.deepEqual(keyed, [false, false])
  })
})
