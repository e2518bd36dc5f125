import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asTenant } from '@bursar/contract'
import { checkStored, renderRecord } from '@bursar/intake'
import { describeStore } from '../../../test/support/describe-store.ts'
import { isLong } from '../../../test/support/long.ts'
import { rules } from '../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { flipped, testSealing } from '../../../test/support/test-sealing.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { recordCheck } from '../../intake/src/check.ts'
import type { Store } from '../src/records.ts'
import { StoreDamaged } from '../src/unavailable.ts'
import { walkKeys as reseal } from './support/walk-keys.ts'

const tested = describeStore()
const { resource, full } = fiatAccount
const kind = 'fiat-accounts'

const numberOf = (at: number) => `77${String(at).padStart(8, '0')}`
const accountOf = (at: number, over: Parameters<typeof aFiatAccount>[0] = {}) =>
  aFiatAccount({
    id: anId(at),
    ref_id: `ref-${at}`,
    customer_id: at % 2 === 0 ? 'globex' : 'acme',
    fiat_network_instructions: { scb: { account_number: numberOf(at) } },
    ...over,
  })
const accounts = [1, 2, 3, 4].map((at) => accountOf(at))

const ACTS = isLong ? 1000 : 150

const customerOf = (at: number) => (at % 2 === 0 ? 'globex' : 'acme')
const get = (at: number, store: Store = tested.store) =>
  store.customers.get(asTenant(customerOf(at)), full, anId(at), false)
const shown = async (at: number, store?: Store) =>
  JSON.parse(String(await get(at, store))).fiat_network_instructions.scb.account_number

const bodies = async (): Promise<string[]> =>
  (
    await tested.ask(`select body from bursar.fiat_account_full
      union all select body from bursar.history where kind = '${kind}'`)
  ).map(([body]) => String(body))

const faults = async (store: Store = tested.store) =>
  (await checkStored([resource], store.operator.rows)).faults

describe('a sealed store', () => {
  test('has no account number in any table, current or replaced, and answers them', async () => {
    await tested.take(kind, accounts)
    await tested.take(kind, [accountOf(1, { status: 'APPROVED' })])
    for (const body of await bodies()) assert.match(body, /^k[0-9a-f]{10}\.[A-Za-z0-9+/]+=*$/)
    for (const at of [1, 2, 3, 4]) assert.equal(await shown(at), numberOf(at))
    assert.deepEqual(await faults(), [])
    const lines = await tested.exported(kind)
    assert.deepEqual(
      lines.map(({ id }) => id),
      [anId(1), anId(3), anId(2), anId(4)],
    )
  })

  test('counts the same record as unchanged, from a file and by itself', async () => {
    await tested.take(kind, accounts)
    assert.equal((await tested.take(kind, accounts)).unchanged, 4)
    for (const account of accounts) assert.equal(await put(account), 'unchanged')
    assert.equal((await tested.take(kind, [accounts[0], accounts[0]])).unchanged, 2)
    const [one, two] = [accountOf(9), accountOf(9, { status: 'APPROVED' })]
    assert.equal((await tested.take(kind, [one, one])).added, 1)
    assert.equal((await tested.take(kind, [two, one])).faultCount, 1)
  })

  test('refuses edits, cuts and swaps of bodies, and nothing else', async () => {
    await tested.take(kind, accounts)
    await tested.take(
      kind,
      accounts.map((account) => ({ ...account, status: 'APPROVED' })),
    )
    const stored = await tested.ask(
      `select id, body, checksum from bursar.fiat_account_full order by id`,
    )
    const past = await tested.ask(`select id, body, stored_at from bursar.history order by id`)
    const random = openRandom(7)
    let refused = 0
    for (let act = 0; act < ACTS; act += 1) {
      const at = random(stored.length)
      const isPast = random(2) === 1
      const [id, body] = (isPast ? past : stored)[at] as [string, string]
      let changed = body
      // A body is random text, so an edit may leave it as it was.
      while (changed === body) changed = changeOf(random, at, body, stored, past)
      const table = isPast ? 'history' : 'fiat_account_full'
      const write = (text: string) =>
        tested.ask(`update bursar.${table} set body = '${text}' where id = '${id}'`)
      // What was answered a moment ago is in memory.
      if (!isPast) await get(at + 1)
      await write(changed)
      const read = isPast
        ? tested.store.operator.findAsOf(
            resource,
            { id, customerId: customerOf(at + 1) },
            BigInt(String(past[at]?.[2])),
          )
        : get(at + 1)
      await assert.rejects(read, StoreDamaged, `act ${act}: ${body} became ${changed}`)
      refused += 1
      await write(body)
    }
    assert.equal(refused, ACTS)
    for (const at of [1, 2, 3, 4]) assert.equal(await shown(at), numberOf(at))
    assert.deepEqual(await faults(), [])
  })

  test('refuses a body with its digest at another record, and one whose key is missing', async () => {
    await tested.take(kind, accounts)
    await tested.ask(`update bursar.fiat_account_full set
      body = (select body from bursar.fiat_account_full as other where other.id = '${anId(3)}'),
      checksum = (select checksum from bursar.fiat_account_full as other where other.id = '${anId(3)}')
      where id = '${anId(1)}'`)
    await assert.rejects(get(1), StoreDamaged)
    assert.equal(await shown(3), numberOf(3))
    await tested.ask(`delete from bursar.customer_key where customer_id = 'globex'`)
    const other = tested.opened(testSealing)
    await assert.rejects(get(2, other), /the key of its customer is missing or does not open/)
    assert.equal(await shown(3, other), numberOf(3))
    assert.equal(await other.operator.resealing.withoutKey(), 1)
  })

  test('lets the same record mend a damaged body, from a file and by itself', async () => {
    for (const mend of [() => tested.take(kind, [accounts[0]]), () => put(accountOf(1))]) {
      await tested.store.operator.clear()
      await tested.take(kind, accounts)
      await tested.ask(`update bursar.fiat_account_full set ${flipped('body')}
        where id = '${anId(1)}'`)
      await mend()
      assert.deepEqual(await faults(), [])
      assert.equal(await shown(1), numberOf(1))
    }
    await reseal(tested.store)
  })
})

describe('what is stored under an older key', () => {
  test('is sealed again in steps that a kill may end, while records are read and written', async () => {
    await reseal(tested.store)
    const many = Array.from({ length: 250 }, (_, at) => accountOf(at + 1, { customer_id: 'acme' }))
    await tested.take(kind, many)
    await tested.take(
      kind,
      many.map((account) => ({ ...account, status: 'APPROVED' })),
    )
    const [[old] = []] = await tested.ask('select id from bursar.customer_key')
    const isOld = (body: string) => body.startsWith(`${old}.`)
    assert.equal(await tested.store.operator.resealing.rotate('acme'), true)
    assert.equal(await tested.store.operator.resealing.recordsLeft(), 500)
    await reseal(tested.store, 2)
    assert.equal((await bodies()).filter(isOld).length, 300)
    assert.equal((await tested.take(kind, many.slice(0, 9), { allowOlder: true })).changed, 9)
    assert.deepEqual(await faults(), [])
    // Another process goes on where this one has ended.
    await reseal(tested.opened(testSealing))
    assert.ok(!(await bodies()).some(isOld))
    assert.deepEqual(await faults(), [])
    assert.equal(await shown(1), numberOf(1))
    assert.equal(await tested.store.operator.resealing.customersLeft(), 0)
  })

  test('is brought to a rotated key, after which the old one is gone', async () => {
    await tested.take(kind, accounts)
    await tested.take(kind, [accountOf(1, { status: 'APPROVED' })])
    await reseal(tested.store)
    const { resealing } = tested.store.operator
    const keys = async () =>
      (await tested.ask(`select id from bursar.customer_key where customer_id = 'acme'`)).flat()
    const [before] = await keys()
    assert.equal(await resealing.rotate('acme'), true)
    assert.equal(await resealing.rotate('nobody'), false)
    assert.equal((await keys()).length, 2)
    // Sealed with the old key, and sealed again when the store refuses that.
    assert.equal(await put(accountOf(3, { status: 'REJECTED' })), 'changed')
    assert.equal((await tested.take(kind, accounts, { allowOlder: true })).faultCount, 0)
    assert.equal(await shown(1), numberOf(1))
    await reseal(tested.store)
    const [after, ...others] = await keys()
    assert.deepEqual(others, [])
    assert.notEqual(after, before)
    assert.ok((await bodies()).some((body) => body.startsWith(`${after}.`)))
    assert.ok(!(await bodies()).some((body) => body.startsWith(`${before}.`)))
    assert.deepEqual(await faults(), [])
    assert.equal(await shown(1), numberOf(1))
  })
})

async function put(account: ReturnType<typeof aFiatAccount>, store: Store = tested.store) {
  const checked = recordCheck(resource, rules)(account)
  assert.ok('record' in checked)
  const { outcome } = await store.operator.put(resource, {
    record: renderRecord(resource, checked.record, 1),
    precondition: {},
    allowOlder: true,
    from: { command: 'PUT', clientId: 'core' },
  })
  return outcome
}

/** Whole numbers below a bound, the same in each run. */
function openRandom(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * bound)
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=.'

type Rows = readonly (readonly unknown[])[]

function changeOf(
  random: (bound: number) => number,
  at: number,
  body: string,
  stored: Rows,
  past: Rows,
) {
  const place = random(body.length)
  const character = ALPHABET[random(ALPHABET.length)] ?? ''
  const bodyOf = (rows: Rows, row: number) => String(rows[row % rows.length]?.[1])
  const changes = [
    () => body.slice(0, place) + character + body.slice(place + 1),
    () => body.slice(0, place) + character + body.slice(place),
    () => body.slice(0, place),
    () => body.slice(0, place) + body.slice(place + 1 + random(20)),
    () => bodyOf(stored, at + 1 + random(3)),
    () => bodyOf(past, at + 1 + random(3)),
    // The other version of the same record.
    () => (bodyOf(stored, at) === body ? bodyOf(past, at) : bodyOf(stored, at)),
  ]
  return changes[random(changes.length)]?.() ?? body
}
