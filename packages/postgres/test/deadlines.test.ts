import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { type Metrics, noMetrics, openLog } from '@bursar/base'
import { setLimits } from '../../../test/support/set-limits.ts'
import { settlesAfter } from '../../../test/support/settles-after.ts'
import {
  addressesOf,
  anyRole,
  openTestDatabase,
  type TestDatabase,
} from '../../../test/support/test-database.ts'
import { until, untilHolds } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { openServers } from '../src/cluster/servers.ts'
import { openConnection } from '../src/driver/connection.ts'
import {
  bulkTransaction,
  operatorSessions,
  readingSessions,
  type SessionSettings,
} from '../src/driver/sessions.ts'

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

describe('a server that starts while requests have every session', () => {
  /** Servers whose only session is held, and how many requests wait for it. */
  async function openHeld(context: TestContext) {
    setLimits(context, { databaseWaitMs: 400, issuerClaimMs: 2000 })
    let pending = () => 0
    const gauge: Metrics['gauge'] = (name, read) => {
      if (name === 'db_client_connection_pending_requests') {
        pending = () => Number([...read()][0]?.[1])
      }
      return () => {}
    }
    const servers = await openServers({
      primaries: addressesOf(database.operatorUrl),
      standbys: [],
      parameters: readingSessions(60_000),
      requireRole: anyRole,
      connectionsMax: 1,
      withinMs: 3_600_000,
      log: openLog('silent'),
      of: 'operator',
      metrics: { ...noMetrics, gauge },
    })
    const gate = Promise.withResolvers<void>()
    const held = servers.onPrimary(() => gate.promise)
    const release = async () => {
      gate.resolve()
      await held
    }
    context.after(async () => {
      await release()
      await servers.close()
    })
    return { servers, release, pending: () => pending() }
  }

  test('learns of other issuers once a session is free', async (t) => {
    const { servers, release, pending } = await openHeld(t)
    using time = takeTime()
    const claim = servers.claimIssuer('https://a.example')
    await until(() => pending() === 1)
    await time.advance(1000)
    await release()
    assert.equal(await claim, undefined)
  })

  test('gives up when its next try begins after its time', async (t) => {
    const { servers, pending } = await openHeld(t)
    using time = takeTime()
    const claim = servers.claimIssuer('https://a.example')
    await until(() => pending() === 1)
    // Each try waits 400 ms for a session, and 100 ms pass between two.
    await assert.rejects(settlesAfter(time, 2400, claim), /every database session is in use/)
  })
})
