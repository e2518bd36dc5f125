import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openLog } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { StoreUnavailable } from '@bursar/records'
import { anId } from '../../../test/support/records.ts'
import { settlesAfter } from '../../../test/support/settles-after.ts'
import {
  addressesOf,
  anyRole,
  openTestDatabase,
  type TestDatabase,
  testLoads,
} from '../../../test/support/test-database.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { openWalk } from '../../../test/support/walk-store.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { openServers, type ReadWork, type Servers } from '../src/cluster/servers.ts'
import { openConnection } from '../src/driver/connection.ts'
import { operatorSessions, readingSessions } from '../src/driver/sessions.ts'
import { openPostgresStore } from '../src/records/open-postgres-store.ts'

const WITHIN_MS = 1000

let database: TestDatabase
let servers: Servers

before(async () => {
  database = await openTestDatabase()
  servers = await openServers({
    ...serversDeps(),
    parameters: readingSessions(WITHIN_MS),
  })
})
const serversDeps = () => ({
  primaries: addressesOf(database.url),
  standbys: [],
  requireRole: anyRole,
  connectionsMax: 1,
  withinMs: WITHIN_MS,
  log: openLog('silent'),
})
after(async () => {
  await servers.close()
  await database.drop()
})

test('a lock on one kind of record fails its reads by name, and leaves the store ready', async () => {
  const store = openPostgresStore({ customers: servers, operator: servers }, () => 0n, testLoads)
  const [address] = addressesOf(database.superuserUrl)
  assert.ok(address !== undefined)
  const other = openConnection(address, { parameters: {}, connectTimeoutMs: 60_000 })
  const tables = ['fiat_account', fiatAccount.full.table].map((table) => `bursar.${table}`)
  await other.execute(`begin; lock table ${tables.join(', ')} in access exclusive mode`)
  const read = store.customers.get(asTenant('acme'), fiatAccount.full, anId(1), false)
  await Promise.all([
    assert.rejects(read, {
      name: 'StoreUnavailable',
      message: 'the database: 55P03: canceling statement due to lock timeout',
    }),
    // The read holds the only session of the pool.
    store.ping(),
  ])
  await other.execute('rollback')
  await other.close()
})

test('a lock ends a step of the walk on the server too, and the walk goes on with the next kind', async () => {
  const operator = await openServers({ ...serversDeps(), parameters: operatorSessions })
  const store = openPostgresStore({ customers: servers, operator }, () => 0n, testLoads)
  const [address] = addressesOf(database.superuserUrl)
  assert.ok(address !== undefined)
  const other = openConnection(address, { parameters: {}, connectTimeoutMs: 60_000 })
  await other.execute('begin; lock table bursar.fiat_account in access exclusive mode')
  const { failures, round } = openWalk(store)
  await round()
  assert.match(String(failures), /55P03: canceling statement due to lock timeout/)
  const waiting = await other.rows({
    text: `select count(*) as n from pg_stat_activity where wait_event_type = 'Lock'
      and datname = current_database()`,
  })
  assert.equal(Number(waiting[0]?.n), 0)
  await other.execute('rollback')
  await round()
  assert.equal(failures.length, 1)
  await other.close()
  await operator.close()
})

test('a slow statement is reported with its deadline, and not as a lost session', async () => {
  using time = takeTime()
  const begun = Promise.withResolvers<void>()
  const slow = servers.onPrimary((connection) => {
    begun.resolve()
    return connection.execute('select pg_sleep(60)')
  }, 100)
  await begun.promise
  await assert.rejects(settlesAfter(time, 100, slow), {
    name: 'StoreUnavailable',
    message: 'the database did not answer within 100 ms',
  })
})

test('the time of a read counts from its request, and includes what it has waited elsewhere', async () => {
  using time = takeTime()
  const begun = Promise.withResolvers<void>()
  const work: ReadWork<void> = (connection) => {
    begun.resolve()
    return connection.execute('select pg_sleep(60)')
  }
  const slow = servers.read(work, { askedAt: time.elapsedMs() - (WITHIN_MS - 100) })
  await begun.promise
  await assert.rejects(settlesAfter(time, 100, slow), StoreUnavailable)
})
