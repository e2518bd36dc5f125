import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { openLog } from '@bursar/base'
import { countsOf } from '@bursar/intake'
import { CustomersLocked, type Store } from '@bursar/records'
import { orderFaults, readOrder } from '../../../test/support/change-order.ts'
import { openPostgresTestStore, openTestOperator } from '../../../test/support/record-store.ts'
import { aDepositAddress, aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'
import { setLimits } from '../../../test/support/set-limits.ts'
import { addressesOf, anyRole, testLoads } from '../../../test/support/test-database.ts'
import { untilHolds } from '../../../test/support/until.ts'
import { connectTo } from '../../records/test/support/postgres-world.ts'
import { putOne } from '../../records/test/support/put-one.ts'
import { openServers } from '../src/cluster/servers.ts'
import type { Connection } from '../src/driver/connection.ts'
import { readingSessions, type SessionSettings } from '../src/driver/sessions.ts'
import { openPostgresStore } from '../src/records/open-postgres-store.ts'

let tested: Awaited<ReturnType<typeof openPostgresTestStore>>
let store: Store
const opened = new AsyncDisposableStack()
before(async () => {
  tested = await openPostgresTestStore()
  const { database, customers } = tested
  opened.defer(tested.close)
  const ingest = opened.adopt(
    await openServers({
      primaries: addressesOf(database.operatorUrl),
      standbys: [],
      parameters: readingSessions(60_000),
      requireRole: anyRole,
      connectionsMax: 10,
      withinMs: 60_000,
      log: openLog('silent'),
    }),
    (servers) => servers.close(),
  )
  const operator = opened.adopt(await openTestOperator(database), (servers) => servers.close())
  let now = 0n
  const clock = () => {
    now += 1n
    return now
  }
  store = openPostgresStore({ customers, operator, ingest }, clock, testLoads)
})
after(() => opened.disposeAsync())
beforeEach(async () => {
  await tested.store.operator.clear()
  await tested.ask('delete from bursar.customer')
})

const openSession = (parameters?: SessionSettings): Connection =>
  connectTo(tested.database.operatorUrl, parameters)

/** Sessions of the operator that wait for a lock. */
const isWaiting = async (count: number) =>
  untilHolds(
    `${count} sessions wait for a lock`,
    async () => {
      const [row] = await tested.ask(`select count(*) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`)
      return Number(row?.[0]) === count
    },
    10_000,
  )

const sha256 = async () => ''
const file = { file: 'held.ndjson', sha256, user: 'test', sudoUser: undefined }

/** Keeps the merge of a file open until it is released: it waits to write its row. */
async function holdImport(records: readonly object[], options: { takeOver?: boolean } = {}) {
  const kind = 'address' in (records[0] ?? {}) ? 'deposit-addresses' : 'fiat-accounts'
  const entry = { kind, importer: { clientId: 'test' }, boundTo: undefined }
  const { row } = await tested.store.imports.begin(entry)
  const blocker = connectTo(tested.database.superuserUrl)
  await blocker.execute(`begin; select 1 from bursar.import where id = '${row.id}' for update`)
  const report = tested.take(kind, records, {
    origin: file,
    row: (done) => ({ id: row.id, counts: countsOf(done), digests: undefined, answer: undefined }),
    ...options,
  })
  const unblock = async () => blocker.destroy()
  await Promise.race([isWaiting(1), report.finally(unblock)])
  return {
    report,
    release: async () => {
      await unblock()
      return await report
    },
    [Symbol.asyncDispose]: unblock,
  }
}

const ofCustomer = (customer_id: string, at: number) => aFiatAccount({ id: anId(at), customer_id })

test('imports and single records of other customers do not wait for a merge', async () => {
  await tested.take('fiat-accounts', [ofCustomer('acme', 1), ofCustomer('other', 2)])
  await using held = await holdImport([{ ...ofCustomer('acme', 1), status: 'REJECTED' }])
  const overlapping = await tested.take('fiat-accounts', [
    { ...ofCustomer('other', 2), status: 'REJECTED' },
    ofCustomer('third', 3),
  ])
  assert.deepEqual([overlapping.added, overlapping.changed], [1, 1])
  const others = [4, 5, 6, 7, 8].map((at) => ofCustomer(at % 2 === 0 ? 'other' : 'third', at))
  const outcomes = await Promise.all(others.map((one) => putOne(store, 'fiat-accounts', one)))
  assert.deepEqual(
    outcomes.map(({ outcome }) => outcome),
    others.map(() => 'added'),
  )
  await isWaiting(1)
  const { changed } = await held.release()
  assert.equal(changed, 1)
  assert.deepEqual(orderFaults(await readOrder(tested.ask)), [])
})

test('a record of the customer of a merge waits for it, and its batch does not', async () => {
  await tested.take('fiat-accounts', [ofCustomer('acme', 1)])
  await using held = await holdImport([{ ...ofCustomer('acme', 1), status: 'REJECTED' }])
  const own = putOne(store, 'fiat-accounts', ofCustomer('acme', 9))
  const other = await putOne(store, 'fiat-accounts', ofCustomer('other', 2))
  assert.equal(other.outcome, 'added')
  // The import waits for its journal, and the record for the import.
  await isWaiting(2)
  await held.release()
  assert.equal((await own).outcome, 'added')
  assert.deepEqual(orderFaults(await readOrder(tested.ask)), [])
})

test('an import finds the records of a customer that another one has just added', async () => {
  await using held = await holdImport([ofCustomer('newco', 1)])
  const own = tested.take('fiat-accounts', [ofCustomer('newco', 1), ofCustomer('newco', 2)])
  await isWaiting(2)
  await held.release()
  const { added, changed, unchanged } = await own
  assert.deepEqual([added, changed, unchanged], [1, 0, 1])
})

test('a record that has waited too long for its customer is refused, and nothing has changed', async (t) => {
  setLimits(t, { recordPutMs: 2000, lockedPutMs: 500 })
  await tested.take('fiat-accounts', [ofCustomer('acme', 1)])
  await using held = await holdImport([{ ...ofCustomer('acme', 1), status: 'REJECTED' }])
  await assert.rejects(putOne(store, 'fiat-accounts', ofCustomer('acme', 9)), {
    name: 'StoreUnavailable',
    message: 'another writer is changing records of this customer, or stores the same value',
  })
  await held.release()
  assert.equal((await tested.exported('fiat-accounts')).length, 1)
})

/** Makes each commit of an account of customer `slow` wait for `release`. */
async function slowDown() {
  const holder = openSession()
  await holder.execute('select pg_advisory_lock(4711)')
  const [table, does] = ['bursar.fiat_account', 'public.wait_for_disk']
  await tested.ask(`create function ${does}() returns trigger language plpgsql as $$ begin
    if (select id from bursar.customer where number = new.customer) = 'slow' then
      -- A wait for the lock itself would end with lock_timeout.
      while not pg_try_advisory_xact_lock_shared(4711) loop
        perform pg_sleep(0.02);
      end loop;
    end if;
    return null;
  end $$`)
  await tested.ask(`create constraint trigger wait_for_disk after insert on ${table}
    deferrable initially deferred for each row execute function ${does}()`)
  return {
    release: () => holder.execute('select pg_advisory_unlock(4711)'),
    [Symbol.asyncDispose]: async () => {
      await holder.close()
      await tested.ask(`drop trigger wait_for_disk on ${table}`)
      await tested.ask(`drop function ${does}`)
    },
  }
}

test('a commit that takes long holds up no records of other customers, and keeps the order of its own', async () => {
  await using slow = await slowDown()
  const done: string[] = []
  const put = async (name: string, customerId: string, at: number) => {
    const { outcome } = await putOne(store, 'fiat-accounts', ofCustomer(customerId, at))
    assert.equal(outcome, 'added')
    done.push(name)
  }
  const first = put('slow', 'slow', 1)
  await untilHolds(
    'the commit waits',
    async () => {
      const [row] = await tested.ask(
        "select count(*) from pg_stat_activity where wait_event = 'PgSleep'",
      )
      return Number(row?.[0]) === 1
    },
    10_000,
  )
  const second = put('slow, later', 'slow', 2)
  await Promise.all([put('other', 'other', 3), put('other', 'third', 4)])
  await slow.release()
  await Promise.all([first, second])
  assert.deepEqual(done, ['other', 'other', 'slow', 'slow, later'])
  assert.deepEqual(orderFaults(await readOrder(tested.ask)), [])
})

test('a value is held by one transaction at a time, whether the one before it commits or not', async () => {
  const [first, second, third] = [openSession(), openSession(), openSession()]
  const hold = `begin; insert into bursar.unique_claim values ('value', 'kind', 'id', 1)
    on conflict do nothing`
  await first.execute(hold)
  await first.execute('commit; begin; delete from bursar.unique_claim')
  const heldBySecond = second.execute(hold)
  await isWaiting(1)
  await first.execute('commit')
  await heldBySecond
  const heldByThird = third.execute(hold)
  await isWaiting(1)
  await second.execute('rollback')
  await heldByThird
  await isWaiting(0)
  for (const session of [first, second, third]) await session.close()
})

const ofAddress = (customer_id: string, at: number) =>
  aDepositAddress({ id: anId(at), customer_id })

test('an import with an address that another one stores waits, and then names the holder', async () => {
  await using held = await holdImport([ofAddress('acme', 1)])
  const refused = tested.take('deposit-addresses', [ofAddress('other', 2)])
  await isWaiting(2)
  await held.release()
  const { faults } = await refused
  assert.deepEqual(
    faults.map(({ line, code, reason }) => [line, code, reason]),
    [
      [
        1,
        'held',
        `are held by the deposit address ${anId(1)} of customer "acme"; --take-over withdraws that record`,
      ],
    ],
  )
})

test('an import with an address of one that fails stores it', async () => {
  await using held = await holdImport([ofAddress('acme', 1)])
  const stored = tested.take('deposit-addresses', [ofAddress('other', 2)])
  await isWaiting(2)
  const failed = assert.rejects(held.report, { name: 'StoreUnavailable' })
  await tested.ask(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like '%update bursar.import%' and pid <> pg_backend_pid()
      and usename = 'bursar_operator'`)
  await failed
  assert.equal((await stored).added, 1)
  await assert.rejects(held.release(), { name: 'StoreUnavailable' })
  assert.deepEqual([...(await readOrder(tested.ask)).counted.keys()], ['other'])
})

test('imports of two kinds that bring a new customer come one after the other', async () => {
  await using held = await holdImport([ofCustomer('acme', 1)])
  const later = tested.take('statements', [aStatement({ customer_id: 'acme' })])
  await isWaiting(2)
  await held.release()
  assert.equal((await later).added, 1)
  assert.deepEqual(orderFaults(await readOrder(tested.ask)), [])
})

test('a record of a new customer that an import adds waits for the import', async () => {
  await using held = await holdImport([ofCustomer('acme', 1)])
  const own = putOne(store, 'statements', aStatement({ customer_id: 'acme' }))
  const other = await putOne(store, 'statements', aStatement({ id: anId(8), customer_id: 'other' }))
  assert.equal(other.outcome, 'added')
  await held.release()
  assert.equal((await own).outcome, 'added')
  assert.deepEqual(orderFaults(await readOrder(tested.ask)), [])
})

test('a record that waits too long for the first key of its customer is refused', async (t) => {
  setLimits(t, { firstKeyMs: 500, recordPutMs: 2000, lockedPutMs: 500 })
  await using held = await holdImport([ofCustomer('acme', 1)])
  const record = ofCustomer('acme', 2)
  await assert.rejects(putOne(store, 'fiat-accounts', record), CustomersLocked)
  await held.release()
  assert.equal((await putOne(store, 'fiat-accounts', record)).outcome, 'added')
})

test('a record with an address that an import stores waits, and then names the holder', async () => {
  await using held = await holdImport([ofAddress('acme', 1)])
  const own = putOne(store, 'deposit-addresses', ofAddress('other', 2))
  const other = aDepositAddress({ id: anId(3), customer_id: 'third', address: anotherAddress })
  assert.equal((await putOne(store, 'deposit-addresses', other)).outcome, 'added')
  await held.release()
  const outcome = await own
  assert.ok(outcome.outcome === 'refused')
  assert.match(outcome.faults[0]?.reason ?? '', /^are held by .* of customer "acme"/)
})

const anotherAddress = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'

test('a take-over locks the customer that loses a value, and no other', async () => {
  await tested.take('deposit-addresses', [ofAddress('acme', 1)])
  await using held = await holdImport([ofAddress('other', 2)], { takeOver: true })
  const loser = putOne(store, 'statements', aStatement({ customer_id: 'acme' }))
  const third = await putOne(store, 'statements', aStatement({ id: anId(8), customer_id: 'third' }))
  assert.equal(third.outcome, 'added')
  await isWaiting(2)
  const { withdrawn } = await held.release()
  assert.equal(withdrawn, 1)
  assert.equal((await loser).outcome, 'added')
  assert.deepEqual(orderFaults(await readOrder(tested.ask)), [])
})

test('a record does not take a value over from a customer that a merge holds', async () => {
  await tested.take('deposit-addresses', [ofAddress('acme', 1)])
  await using held = await holdImport([ofCustomer('acme', 9)])
  const taking = putOne(store, 'deposit-addresses', ofAddress('other', 2), { takeOver: true })
  const third = await putOne(store, 'statements', aStatement({ id: anId(8), customer_id: 'third' }))
  assert.equal(third.outcome, 'added')
  await held.release()
  assert.equal((await taking).outcome, 'added')
  const { versions } = await readOrder(tested.ask)
  assert.equal(versions.filter(({ customerId }) => customerId === 'acme').length, 3)
  assert.deepEqual(orderFaults(await readOrder(tested.ask)), [])
})

test('the check of the order finds a writer that does not lock its customer', async () => {
  await tested.take('fiat-accounts', [ofCustomer('acme', 1)])
  const writer = openSession()
  await writer.execute(`begin; insert into bursar.history
    (kind, customer, id, stored_at, replaced_at, change, event, body, checksum)
    select 'statements', number, '${anId(7)}', 1, 2, changes + 1, 0, '', 0 from bursar.customer`)
  assert.equal((await putOne(store, 'fiat-accounts', ofCustomer('acme', 2))).outcome, 'added')
  await writer.execute('update bursar.customer set changes = changes + 1; commit')
  await writer.close()
  assert.deepEqual(orderFaults(await readOrder(tested.ask)), [
    'acme: 2 versions have the number 2',
    'acme: 0 versions have the number 3',
  ])
})
