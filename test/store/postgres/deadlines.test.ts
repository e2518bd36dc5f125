import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openLog } from '../../../src/platform/log.ts'
import { openServers } from '../../../src/store/postgres/cluster/servers.ts'
import { openConnection } from '../../../src/store/postgres/driver/connection.ts'
import {
  bulkTransaction,
  operatorSessions,
  readingSessions,
  type SessionSettings,
} from '../../../src/store/postgres/driver/sessions.ts'
import { StoreUnavailable } from '../../../src/store/unavailable.ts'
import {
  addressesOf,
  anyRole,
  openTestDatabase,
  type TestDatabase,
} from '../../support/test-database.ts'
import { untilHolds } from '../../support/until.ts'

let database: TestDatabase
before(async () => {
  database = await openTestDatabase()
})
after(() => database.drop())

function openAs(parameters: SessionSettings) {
  const [address] = addressesOf(database.operatorUrl)
  assert.ok(address !== undefined)
  return openConnection(address, { parameters, connectTimeoutMs: 60_000 })
}

test('every kind of session has deadlines for statements, locks and idle transactions', () => {
  const kinds = { reading: readingSessions(900), operator: operatorSessions }
  for (const [kind, settings] of Object.entries({ ...kinds, bulk: bulkTransaction(1000) })) {
    for (const name of ['statement', 'lock', 'idle_in_transaction_session'] as const) {
      assert.ok(settings[`${name}_timeout`] > 0, `${name} of ${kind}`)
    }
  }
})

test('the server ends the idle transaction of a command that has stopped', async () => {
  const session = openAs({ ...operatorSessions, idle_in_transaction_session_timeout: 200 })
  await session.execute('begin; lock table bursar.fiat_account in share row exclusive mode')
  const locks = `select count(*) from pg_locks
    where relation = 'bursar.fiat_account'::regclass and mode = 'ShareRowExclusiveLock'`
  const isFree = async () => (await database.ask(locks))[0]?.[0] === '0'
  await untilHolds('the table is free', isFree)
  session.destroy()
})

test('the server ends a statement whose client is gone', async () => {
  const session = openAs({ ...operatorSessions, client_connection_check_interval: 200 })
  const running = `select count(*) from pg_stat_activity
    where datname = current_database() and query = 'select pg_sleep(600)' and state = 'active'`
  const count = async () => (await database.ask(running))[0]?.[0]
  const left = assert.rejects(session.execute('select pg_sleep(600)'))
  await untilHolds('the statement runs', async () => (await count()) === '1')
  session.destroy()
  await left
  await untilHolds('the statement has ended', async () => (await count()) === '0')
})

test('a server that starts learns of other issuers though requests have every session', async () => {
  const servers = await openServers({
    primaries: addressesOf(database.operatorUrl),
    standbys: [],
    parameters: readingSessions(2000),
    requireRole: anyRole,
    connectionsMax: 1,
    withinMs: 400,
    lagMsMax: 2000,
    log: openLog('silent'),
  })
  try {
    const held = servers.onPrimary((session) => session.execute('select pg_sleep(1.2)'), 2000)
    const claimed = servers.claimIssuer('https://a.example')
    const refused = servers.onPrimary((session) => session.execute('select 1'))
    await assert.rejects(refused, StoreUnavailable)
    assert.equal(await claimed, undefined)
    await held
  } finally {
    await servers.close()
  }
})
