import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { asTenant, resources } from '@bursar/contract'
import { checkStored, countsOf } from '@bursar/intake'
import type { Store } from '@bursar/records'
import { openPostgresTestStore, take } from '../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { openTestSealing } from '../../../test/support/test-sealing.ts'
import { untilHolds } from '../../../test/support/until.ts'
import { connectTo } from '../../records/test/support/postgres-world.ts'

/** Keys are renewed while another process has stored something that it has not committed. */

const kind = 'fiat-accounts'
const account = (at: number, customer_id: string) =>
  aFiatAccount({ id: anId(at), ref_id: `r${at}`, customer_id })
const origin = { file: 'h.ndjson', sha256: async () => '', user: 'test', sudoUser: undefined }

/** A store whose keys can be renewed, and an import that waits at its commit. */
async function openHeld(t: TestContext, before: (store: Store) => Promise<unknown>) {
  const tested = await openPostgresTestStore()
  t.after(() => tested.close())
  const sealing = openTestSealing()
  const store = tested.opened(sealing)
  await take(store, kind, [account(1, 'acme')])
  await before(store)
  const entry = { kind, importer: { clientId: 'test' }, boundTo: undefined }
  const { row } = await store.imports.begin(entry)
  const blocker = connectTo(tested.database.superuserUrl)
  await blocker.execute(`begin; select 1 from bursar.import where id = '${row.id}' for update`)
  const importing = take(store, kind, [account(2, 'globex')], {
    origin,
    row: (report) => ({
      id: row.id,
      counts: countsOf(report),
      digests: undefined,
      answer: undefined,
    }),
  })
  importing.catch(() => {})
  await untilHolds('the import waits', async () => {
    const [row] = await tested.ask(`select count(*) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`)
    return Number(row?.[0]) === 1
  })
  const release = async () => {
    await blocker.execute('commit')
    await blocker.close()
    assert.equal((await importing).added, 1)
  }
  return { tested, sealing, release }
}

const faultsOf = async (store: Store) => (await checkStored(resources, store.operator.rows)).faults

for (const purpose of ['customer-number', 'customer-key', 'name-index'] as const) {
  test(`a renewal of ${purpose} waits for transactions that began under the old key`, async (t) => {
    const { tested, sealing, release } = await openHeld(t, async () => {})
    sealing.renew(purpose)
    const { resealing } = tested.opened(sealing).operator
    let isOver = false
    const waiting = resealing.untilWritersEnd().then((ended) => {
      isOver = true
      return ended
    })
    await tested.ask('select pg_sleep(0.5)')
    assert.equal(isOver, false)
    await release()
    assert.equal(await waiting, true)
    const rebound = await Array.fromAsync(resealing.rebind())
    assert.deepEqual(
      rebound.flatMap(({ refused }) => refused),
      [],
    )
    await Array.fromAsync(resealing.walk())
    assert.equal(await resealing.customersLeft(), 0)
    sealing.retire()
    const after = tested.opened(sealing)
    assert.deepEqual(await faultsOf(after), [])
    assert.equal((await take(after, kind, [account(2, 'globex')])).unchanged, 1)
  })
}

test('a walk waits for the first records of a customer that has a key already', async (t) => {
  // As a single record that was refused leaves it.
  const { tested, sealing, release } = await openHeld(t, (store) =>
    store.operator.keys.ensure(asTenant('globex')),
  )
  sealing.renew('customer-key')
  const { resealing } = tested.opened(sealing).operator
  const walking = Array.fromAsync(resealing.walk())
  await untilHolds('the walk waits too', async () => {
    const [row] = await tested.ask(`select count(*) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`)
    return Number(row?.[0]) === 2
  })
  await release()
  await walking
  sealing.retire()
  assert.deepEqual(await faultsOf(tested.opened(sealing)), [])
})

test('an import uses the first key that another process has stored meanwhile', async (t) => {
  const tested = await openPostgresTestStore()
  t.after(() => tested.close())
  const sealing = openTestSealing()
  const { keys } = tested.opened(sealing).operator
  let made = 0
  const store = tested.opened({
    ...sealing,
    source: {
      ...keys,
      make: async (customer) => {
        made += 1
        const key = await keys.make(customer)
        // The first one is made while the file is read, and outdated at the merge.
        if (made === 1) sealing.renew('customer-key')
        if (made === 3) await keys.ensure(customer)
        return key
      },
    },
  })
  assert.equal((await take(store, kind, [account(1, 'acme')])).added, 1)
  assert.equal(made, 3)
  assert.deepEqual(await faultsOf(tested.opened(sealing)), [])
})
