import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { systemTime } from '@bursar/base'
import { asTenant, eventKinds, resources } from '@bursar/contract'
import { checkStored } from '@bursar/intake'
import { describeStore } from '../../../test/support/describe-store.ts'
import { resourceOf, take } from '../../../test/support/record-store.ts'
import { aDepositAddress, aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'
import { testStore } from '../../../test/support/test-database.ts'
import { testSealing } from '../../../test/support/test-sealing.ts'
import { inAnHour } from '../../../test/support/until.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import type { ErasePlace } from '../src/records/erasure.ts'
import { type ChangePlace, EventsUnknown, placeAfter } from '../src/records/events.ts'
import { recordTables } from '../src/schema/tables.ts'
import { putOne } from './support/put-one.ts'
import { acme, aQuote, aWithdrawal, idOf, noon, openTestQuotes } from './support/quotes.ts'

const tested = describeStore()

const account = (id: number, customer: string, status = 'PENDING') =>
  aFiatAccount({ id: anId(id), customer_id: customer, ref_id: `r-${id}`, status })

/** The list of destroyed keys. */
const destroyed = new Set<string>()

/** The store of a process that reads every key again. */
const opened = () =>
  tested.opened({
    ...testSealing,
    findDestroyedKeys: async (asked) => new Set(asked.filter((one) => destroyed.has(one))),
  })

/** Runs the steps of an erasure, and work between two of them. */
async function erase(
  customerId: string,
  between: (step: number) => Promise<void> = async () => {},
) {
  const removed = { records: 0, versions: 0, feeEvents: 0, keys: 0 }
  let from: ErasePlace | undefined
  let step = 0
  do {
    const part = await tested.store.operator.eraseSome(customerId, ['client_acme'], from)
    for (const fingerprint of part.destroys ?? []) destroyed.add(fingerprint)
    for (const name of Object.keys(removed) as (keyof typeof removed)[]) {
      removed[name] += part.removed[name]
    }
    from = part.next
    step += 1
    if (from !== undefined) await between(step)
  } while (from !== undefined)
  return { removed, steps: step }
}

const fill = async (customer: string, first: number) => {
  const [one, two] = [account(first, customer), account(first + 1, customer)]
  await tested.take('fiat-accounts', [one, two])
  await tested.take('fiat-accounts', [account(first, customer, 'REJECTED')])
  await tested.take('statements', [aStatement({ id: anId(first + 2), customer_id: customer })])
  await tested.take('deposit-addresses', [
    aDepositAddress({
      id: anId(first + 3),
      customer_id: customer,
      address: `0x${`1${first % 10 === first ? 2 : 3}`.repeat(20)}`,
    }),
  ])
  await tested.store.operator.noteConsumed(
    { id: anId(first + 4), customerId: customer },
    inAnHour(),
  )
}

const kinds = new Set<string>(eventKinds)
const eventsOf = (customer: string) => tested.store.operator.eventsOf(customer)
const firstPage = { kinds, order: 'ASC', after: undefined, limit: 100 } as const
const changes = (place?: ChangePlace, limit = 1000) => tested.store.operator.changes(place, limit)

/** The tables that name a customer by its number or its id, and how many rows of it each has. */
async function rowsOf(customer: string): Promise<Record<string, number>> {
  const number = `(select number from bursar.customer where id = '${customer}')`
  const counts: [string, number][] = []
  for (const table of [...recordTables, 'history', 'former_value', 'extent', 'fee_event']) {
    const [row] = await tested.ask(
      `select count(*) from bursar.${table} where customer = ${number}`,
    )
    counts.push([table, Number(row?.[0])])
  }
  for (const table of ['customer_key', 'reseal']) {
    const [row] = await tested.ask(
      `select count(*) from bursar.${table} where customer_id = '${customer}'`,
    )
    counts.push([table, Number(row?.[0])])
  }
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

describe('an erasure', () => {
  test('removes every record, version, event and key of the customer, and of no other', async () => {
    await fill('acme', 1)
    await fill('borealis', 11)
    const before = await rowsOf('borealis')
    const held = { records: 4, versions: 1, feeEvents: 1, keys: 1 }
    assert.deepEqual(await tested.store.operator.holdings('acme'), held)
    assert.deepEqual((await erase('acme')).removed, held)
    assert.deepEqual(await rowsOf('acme'), {})
    assert.deepEqual(await rowsOf('borealis'), before)
    const empty = { records: 0, versions: 0, feeEvents: 0, keys: 0 }
    assert.deepEqual(await tested.store.operator.holdings('acme'), empty)
    assert.equal(await tested.store.operator.holdings('nobody'), undefined)
    for (const { kind } of resources) {
      const lines = await tested.exported(kind as 'statements')
      assert.ok(
        lines.every(({ customer_id }) => customer_id === 'borealis'),
        kind,
      )
    }
  })

  test('tells every reader of the customer’s feed, those that had read all of it too', async () => {
    await fill('acme', 1)
    const feed = eventsOf('acme')
    const page = await feed.page(firstPage)
    const places = [
      { change: 0n, digest: 0n, pruned: page.pruned },
      ...page.events.map((event) => placeAfter(event, page.pruned)),
    ]
    await erase('acme')
    for (const after of places) {
      const again = feed.page({ ...firstPage, after })
      await assert.rejects(again, EventsUnknown, `after ${after.change}`)
    }
    const begun = await feed.page(firstPage)
    assert.deepEqual([begun.events, begun.more], [[], false])
    const start = { change: 0n, digest: 0n, pruned: begun.pruned }
    await tested.take('fiat-accounts', [account(1, 'acme')])
    const later = await feed.page({ ...firstPage, after: start })
    assert.deepEqual(
      later.events.map(({ kind, change }) => [kind, change > begun.pruned]),
      [['fiat-accounts', true]],
    )
  })

  test('leaves the log of all customers readable from every place', async () => {
    await fill('acme', 1)
    const places: ChangePlace[] = []
    for (let place: ChangePlace | undefined, more = true; more; ) {
      ;({ more, last: place } = await changes(place, 1))
      if (place !== undefined) places.push(place)
    }
    await fill('borealis', 11)
    places.push((await changes(places.at(-1), 3)).last)
    await erase('acme')
    for (const [at, place] of [undefined, ...places].entries()) {
      const found: string[] = []
      let last = place
      for (let more = true; more; ) {
        const page = await changes(last, 2)
        found.push(...page.changes.map(({ customerId }) => customerId))
        ;({ more, last } = page)
      }
      assert.deepEqual(
        found,
        Array.from({ length: at === places.length ? 3 : 6 }, () => 'borealis'),
        `place ${at}`,
      )
    }
    const end = (await changes(undefined)).last
    await tested.take('fiat-accounts', [account(1, 'acme')])
    const returned = await changes(end)
    assert.deepEqual(
      returned.changes.map(({ customerId, kind, action }) => [customerId, kind, action]),
      [['acme', 'fiat-accounts', 'created']],
    )
  })

  test('of many records goes in steps, between which others read and write whole records', async () => {
    const many = Array.from({ length: 1300 }, (_, at) => account(at + 1, 'acme'))
    await tested.take('fiat-accounts', many)
    await tested.take('fiat-accounts', [account(2001, 'borealis')])
    const begun = await changes()
    const tenant = asTenant('borealis')
    const view = fiatAccount.full
    const { steps, removed } = await erase('acme', async (step) => {
      const put = await putOne(tested.store, 'fiat-accounts', account(2001 + step, 'borealis'))
      assert.equal(put.outcome, 'added')
      assert.ok(await tested.store.customers.get(tenant, view, anId(2001), false))
      const found = await checkStored(resources, tested.store.operator.rows)
      assert.deepEqual(found.faults, [], `step ${step}`)
      if (step === 2) await putOne(tested.store, 'fiat-accounts', account(3001, 'acme'))
    })
    assert.equal(steps, 4)
    assert.equal(removed.records, 1301)
    assert.deepEqual(await rowsOf('acme'), {})
    const { changes: others } = await changes(begun.last)
    assert.ok(others.length >= 2 && others.every(({ customerId }) => customerId === 'borealis'))
  })

  test('of more entries of the log than a page reads does not stop its readers', async () => {
    await tested.take('fiat-accounts', [account(1, 'acme')])
    const begun = await changes()
    const [row] = await tested.ask("select number from bursar.customer where id = 'acme'")
    const entries = Array.from(
      { length: 2500 },
      (_, at) => `(${begun.last.seq + BigInt(at + 1)}, ${row?.[0]}, 1, 1, 1, 0)`,
    )
    await tested.ask(`insert into bursar.change_log values ${entries.join(',')}`)
    await tested.ask(`update bursar.change_head set seq = ${begun.last.seq + 2500n}`)
    await tested.take('fiat-accounts', [account(2, 'borealis')])
    let last = begun.last
    const found: string[] = []
    for (let more = true; more; ) {
      const page = await changes(last)
      found.push(...page.changes.map(({ customerId }) => customerId))
      ;({ more, last } = page)
    }
    assert.deepEqual(found, ['borealis'])
    await tested.ask('delete from bursar.change_log')
    await tested.ask('update bursar.change_head set seq = 0')
  })

  test('changes the entity tag of every kind, and makes the past unknown', async () => {
    await fill('acme', 1)
    const tenant = asTenant('acme')
    const resource = resourceOf('fiat-accounts')
    const before = await tested.store.customers.revision(tenant, resource)
    await erase('acme')
    const after = await tested.store.customers.revision(tenant, resource)
    assert.ok(after.changedAt > before.changedAt)
    const past = tested.store.operator.findAsOf(
      resource,
      { id: anId(1), customerId: 'acme' },
      before.changedAt,
    )
    assert.equal(await past.catch(({ name }) => name).then((found) => found?.found), undefined)
    await tested.take('fiat-accounts', [account(1, 'acme')])
    const back = await tested.store.customers.revision(tenant, resource)
    assert.ok(back.changedAt > after.changedAt)
  })

  test('removes what was answered to the customer’s clients, and leaves other answers', async () => {
    const { imports } = tested.store
    for (const clientId of ['client_acme', 'client_other']) {
      const entry = { kind: 'statements', importer: { clientId }, boundTo: undefined }
      await imports.beginOnce(entry, ['sha'], { key: 'k', request: 'POST' })
    }
    const importer = { user: 'ada', sudoUser: undefined, file: 'acme.csv', files: 1 }
    await imports.begin({ kind: 'statements', importer, boundTo: 'acme' }, ['sha'])
    await erase('acme')
    const left = await tested.ask(`select client_id, file, idempotency_key,
        fingerprint is null, digests is null from bursar.import order by id`)
    const isNull = testStore === 'sqlite' ? [0, 1] : ['f', 't']
    assert.deepEqual(left, [
      ['client_acme', null, null, isNull[1], isNull[1]],
      ['client_other', null, 'k', isNull[0], isNull[0]],
      [null, '-', null, isNull[1], isNull[1]],
    ])
  })
})

describe('what an erasure removed, put back', () => {
  const tables = ['fiat_account', 'fiat_account_full', 'history', 'customer_key']
  const each = async (sql: (table: string) => string) => {
    for (const table of tables) await tested.ask(sql(table))
  }
  const ofAcme = "(select number from bursar.customer where id = 'acme')"
  const save = () =>
    each(
      (table) => `create table bursar.saved_${table} as select * from bursar.${table}
        where ${table === 'customer_key' ? "customer_id = 'acme'" : `customer = ${ofAcme}`}`,
    )
  const putBack = () =>
    each((table) => `insert into bursar.${table} select * from bursar.saved_${table}`)
  afterEach(async () => {
    await each((table) => `drop table if exists bursar.saved_${table}`)
    await erase('acme')
  })
  const get = (id: number) =>
    opened().customers.get(asTenant('acme'), fiatAccount.full, anId(id), false)
  const refusal = /an erasure of its customer has destroyed its key/

  test('is not answered, whether with its last key or with one that it had before', async () => {
    await tested.take('fiat-accounts', [account(1, 'acme'), account(2, 'borealis')])
    await save()
    for (const isRotated of [false, true]) {
      const { resealing } = tested.store.operator
      if (isRotated) {
        await tested.take('fiat-accounts', [account(1, 'acme')])
        await resealing.rotate('acme')
        for await (const step of resealing.walk()) assert.deepEqual(step.unopened, [])
      }
      assert.ok(await get(1))
      await erase('acme')
      await putBack()
      await assert.rejects(get(1), refusal)
      assert.equal(await opened().operator.resealing.rotate('acme'), false)
      const [fault] = (await checkStored(resources, opened().operator.rows)).faults
      assert.match(String(fault), refusal)
      assert.equal((await opened().operator.keys.find(asTenant('acme'), true))?.hasDestroyed, true)
      await erase('acme')
      assert.deepEqual(await rowsOf('acme'), {})
    }
  })

  test('leaves a customer that has come back its new key and its new records', async () => {
    await tested.take('fiat-accounts', [account(1, 'acme')])
    await save()
    await erase('acme')
    const at = systemTime.now()
    await take(opened(), 'fiat-accounts', [account(3, 'acme')])
    assert.equal(await tested.store.operator.countStoredBefore('acme', at), 0)
    await tested.ask('update bursar.saved_customer_key set current = false')
    await putBack()
    assert.ok(await get(3))
    await assert.rejects(get(1), refusal)
    assert.equal(await tested.store.operator.countStoredBefore('acme', at), 1)
    assert.deepEqual(await tested.store.operator.holdingsByKind('acme'), { 'fiat-accounts': 2 })
  })

  test('needs its key in the list before that is deleted, at whatever moment the erasure ends', async () => {
    await tested.take('fiat-accounts', [account(1, 'acme')])
    const { eraseSome } = tested.store.operator
    for (const _ of ['killed', 'repeated']) {
      const part = await eraseSome('acme', [], undefined)
      assert.equal(part.destroys?.length, 1)
      assert.deepEqual(await rowsOf('acme'), { customer_key: 1 })
    }
    // What is stored with the key before it is deleted goes with it.
    const first = await eraseSome('acme', [], undefined)
    await putOne(tested.store, 'fiat-accounts', account(2, 'acme'))
    const second = await eraseSome('acme', [], first.next)
    assert.deepEqual([second.removed.records, second.removed.keys, second.next], [1, 1, undefined])
    assert.deepEqual(await rowsOf('acme'), {})
  })
})

describe('an erased fee', () => {
  test('keeps its ids and times, cannot be consumed, and counts as no uncertain one', async (t) => {
    const { quotes } = await openTestQuotes(t)
    const { operator, customers } = quotes
    for (const at of [1, 2]) await customers.issue(acme, aQuote({ id: idOf(at) }), 10)
    const other = { ...aQuote({ id: idOf(3) }), clientId: 'client_other' }
    await customers.issue(asTenant('borealis'), other, 10)
    await operator.consume(aWithdrawal({ id: idOf(1) }))
    const counted = await operator.eraseSome('acme', { after: undefined, erases: false })
    assert.deepEqual(counted, { count: 2, next: undefined })
    const erased = await operator.eraseSome('acme', { after: undefined, erases: true })
    assert.deepEqual(erased, counted)
    const [consumed, open, kept] = await Promise.all([1, 2, 3].map((at) => operator.find(idOf(at))))
    assert.deepEqual(
      [consumed, open].map((quote) => [
        quote?.isErased,
        quote?.customerId,
        quote?.address,
        quote?.canonicalAddress,
        quote?.amount,
        quote?.fee,
        quote?.total,
      ]),
      [1, 2].map(() => [true, 'acme', '', '', '', '', '']),
    )
    assert.equal(consumed?.consumption?.withdrawal, 'withdrawal-1')
    assert.deepEqual([kept?.isErased, kept?.amount], [false, other.amount])
    for (const at of [1, 2]) {
      assert.equal((await operator.consume(aWithdrawal({ id: idOf(at) }))).outcome, 'erased')
    }
    const restored = {
      restoredTo: noon,
      restoredAt: noon,
      quotesBefore: noon + 10_000_000n,
      clientsConfirmedAt: undefined,
      erasuresRepeatedAt: undefined,
      reconciledAt: undefined,
    }
    const uncertain = await operator.uncertain(restored, 10)
    assert.deepEqual(
      uncertain.map(({ id }) => id),
      [idOf(3)],
    )
    assert.deepEqual(await operator.withoutEvent(10), [])
  })
})
