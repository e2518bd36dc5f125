import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed, noMetrics, openBackground, openLog } from '@bursar/base'
import { CustomersLocked, type Session, StoreUnavailable } from '@bursar/records'
import { resourceOf } from '../../../test/support/record-store.ts'
import { setLimits } from '../../../test/support/set-limits.ts'
import { settlesAfter } from '../../../test/support/settles-after.ts'
import { testLoads } from '../../../test/support/test-database.ts'
import { until } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { fakeSessions } from '../../records/test/support/fake-sessions.ts'
import { listenAs } from '../../records/test/support/listen-as.ts'
import { acme, aQuote, aWithdrawal, noon } from '../../records/test/support/quotes.ts'
import { refusePooler } from '../src/cluster/find-pooler.ts'
import { listen } from '../src/cluster/listen.ts'
import { openMonitor } from '../src/cluster/monitor.ts'
import { openNotifier } from '../src/cluster/notify.ts'
import { openPool } from '../src/cluster/pool.ts'
import type { Health, Server } from '../src/cluster/server.ts'
import type { Servers } from '../src/cluster/servers.ts'
import { transactOn } from '../src/cluster/transaction.ts'
import { openPostgresFeeQuotes } from '../src/fee-quotes.ts'
import { openWaitingLocks } from '../src/import/customer-locks.ts'
import { firstKeyTransactions } from '../src/import/first-keys.ts'
import { openPostgresAudit } from '../src/open-postgres-audit.ts'
import { openPostgresStore } from '../src/records/open-postgres-store.ts'

describe('the monitor of servers', () => {
  type FakeServer = Server & { now: Health | undefined; checks: number; check: () => Promise<void> }

  const fakeServer = (role: Health['role'], label: string = role): FakeServer => {
    const server = {
      label,
      now: { role, timeline: 1, isPaused: false } as Health | undefined,
      checks: 0,
      check: async () => {},
      health: () => server.now,
      failure: () => undefined,
      refusal: () => undefined,
      checkHealth: () => {
        server.checks += 1
        return server.check()
      },
    }
    return server as unknown as FakeServer
  }

  /** A primary and two standbys that follow it. */
  async function openTested() {
    const [primary, standby] = [fakeServer('primary'), fakeServer('standby')]
    const second = fakeServer('standby', 'second')
    const monitor = await openMonitor({
      primaries: [primary],
      standbys: [standby, second],
      log: openLog('silent'),
      background: openBackground(),
      of: undefined,
    })
    const reader = (...failed: Server[]) => monitor.reader(new Set(failed))
    return { primary, standby, second, monitor, reader }
  }

  test('looks at every server twice a second', async () => {
    using time = takeTime()
    const { primary, standby, monitor } = await openTested()
    const checks = () => [primary.checks, standby.checks]
    await time.advance(limitNamed('databaseHealthCheckIntervalMs') - 1)
    assert.deepEqual(checks(), [1, 1])
    await time.advance(1)
    assert.deepEqual(checks(), [2, 2])
    monitor.stop()
    assert.equal(time.waiting(), 0)
  })

  test('keeps nobody waiting for a server that does not answer', async () => {
    using time = takeTime()
    const { primary, monitor } = await openTested()
    await monitor.check(400)
    assert.equal(time.waiting(), 1, 'only the next check is due')
    primary.check = () => new Promise(() => {})
    await settlesAfter(time, 400, monitor.check(400))
    monitor.stop()
  })

  test('reads from the first standby that can be read, in the order of their URLs, then from the primary', async () => {
    using time = takeTime()
    const { primary, standby, second, monitor, reader } = await openTested()
    const isUsed = () => monitor.states().map((state) => state.isUsed)
    assert.deepEqual([reader(), reader(), reader(standby)], [standby, standby, second])
    assert.equal(reader(standby, second), primary)
    assert.equal(reader(standby, second, primary), undefined)
    const changed: readonly [string, FakeServer['now']][] = [
      ['down', undefined],
      ['of an old primary', { role: 'standby', timeline: 0, isPaused: false }],
      ['paused', { role: 'standby', timeline: 1, isPaused: true }],
      ['promoted', { role: 'primary', timeline: 1, isPaused: false }],
    ]
    for (const [what, health] of changed) {
      const { now } = standby
      standby.now = health
      assert.deepEqual([reader(), ...isUsed()], [second, false, true, true], what)
      second.now = health
      assert.deepEqual([reader(), ...isUsed()], [primary, false, false, true], what)
      standby.now = now
      second.now = now
      assert.equal(reader(), standby, what)
    }
    await time.advance(0)
    monitor.stop()
  })

  test('reads from a standby for five minutes after the primary is lost', async () => {
    using time = takeTime()
    const { primary, standby, monitor, reader } = await openTested()
    primary.now = undefined
    await time.advance(limitNamed('databasePrimaryLostMs'))
    assert.equal(reader(), standby)
    await time.advance(1)
    assert.equal(reader(), undefined)
    monitor.stop()
  })
})

test('a session that listens is opened again half a second after it was lost', async (context) => {
  const { sockets, address } = await listenAs(context, false, (socket) => {
    socket.once('data', () => socket.end())
  })
  using time = takeTime()
  const onNewPrimary: Servers['onNewPrimary'] = (run) => {
    run({ address } as Server)
    return () => {}
  }
  const stop = listen({ onNewPrimary } as Servers, 'channel', () => {})
  const isLost = () => sockets.at(-1)?.destroyed === true && time.waiting() === 1
  await until(isLost)
  await time.advance(limitNamed('databaseSessionRetryMs') - 1)
  assert.equal(time.waiting(), 1)
  await time.advance(1)
  await until(() => sockets.length === 2 && isLost())
  stop()
  assert.equal(time.waiting(), 0)
})

test('changes of some milliseconds share a notification', async () => {
  using time = takeTime()
  const sent: unknown[] = []
  const rows: Servers['rows'] = async ({ values = [] }) => {
    sent.push(values[0])
    return []
  }
  const notifier = openNotifier({ rows } as Servers)
  notifier.note(['acme'])
  await time.advance(limitNamed('notifiedTogetherMs') - 1)
  notifier.note(undefined)
  assert.deepEqual(sent, [])
  await time.advance(1)
  await notifier.sent()
  assert.deepEqual(sent, ['{"*"}'])
})

test('the look for a pooler leaves a server that does not answer', async (context) => {
  setLimits(context, { poolerLookMs: 1000 })
  const { sockets, address } = await listenAs(context, false, () => {})
  using time = takeTime()
  const looking = refusePooler([address])
  await until(() => sockets.length === 1)
  await settlesAfter(time, 1000, looking)
})

describe('a database that does not answer', () => {
  const withinMs = 400

  /** Servers of which the primary is silent. */
  function silentServers() {
    const { open } = fakeSessions()
    const bounds = { connectionsMax: 4, waitingMax: 4, waitMs: withinMs, withinMs: 60_000 }
    const pool = openPool({ open, ...bounds })
    const onPrimary: Servers['onPrimary'] = (work, ms, waitMs) => pool.run(work, ms, 0, waitMs)
    return {
      pooler: 'none',
      metrics: noMetrics,
      connectionsMax: bounds.connectionsMax,
      onPrimary,
      rows: (query) => onPrimary((connection) => connection.rows(query)),
    } as Servers
  }
  const set = { firstKeyMs: 250, walkStepMs: 700, mergeSessionMs: 300, streamMergeMs: 900 }
  const works: Readonly<Record<string, [number, (servers: Servers) => Promise<unknown>]>> = {
    'a fee quote': [
      withinMs,
      (customers) =>
        openPostgresFeeQuotes({ customers, operator: customers, withinMs }).customers.issue(
          acme,
          aQuote(),
          9,
        ),
    ],
    'a consumption': [
      withinMs,
      (operator) =>
        openPostgresFeeQuotes({ customers: operator, operator, withinMs }).operator.consume(
          aWithdrawal(),
        ),
    ],
    'an entry of the audit log': [
      withinMs,
      (servers) => {
        const key = () => ({ id: 'key_1', key: Buffer.alloc(32) })
        const log = openPostgresAudit(servers, withinMs, { clock: () => noon, key })
        return log.write({ action: 'open_log', actor: { type: 'program' }, outcome: 'done' })
      },
    ],
    'a first key': [2 * set.firstKeyMs, (servers) => firstKeyTransactions(servers)(async () => {})],
    'a transaction of a default time': [
      300,
      (servers) => transactOn(servers, undefined, 300)(async () => {}),
    ],
    'a step of the walk': [
      set.walkStepMs,
      (servers) => {
        const store = openPostgresStore(
          { customers: servers, operator: servers },
          () => noon,
          testLoads,
        )
        return store.damage.walkedRows.owners(0n, 1)
      },
    ],
  }
  for (const [what, held, ms] of [
    ['that gets no session', 4, set.mergeSessionMs],
    ['whose merge takes too long', 0, set.streamMergeMs],
  ] as const) {
    test(`is given up for a stream ${what}`, async (t) => {
      setLimits(t, set)
      using time = takeTime()
      const servers = silentServers()
      const gate = Promise.withResolvers<void>()
      const busy = Array.from({ length: held }, () =>
        servers.onPrimary(() => gate.promise, Number.POSITIVE_INFINITY),
      )
      const operator = { ...servers, rows: async () => [{ changed_at: null }] }
      const store = openPostgresStore({ customers: operator, operator }, () => noon, testLoads)
      const options = { isInServer: true }
      const load = await store.operator.beginLoad(resourceOf('fiat-accounts'), options)
      const merged = load.merge({ dryRun: false, allowOlder: false })
      merged.catch(() => {})
      await until(() => time.waiting() > 0)
      await assert.rejects(settlesAfter(time, ms, merged), StoreUnavailable)
      await load.close()
      gate.resolve()
      await Promise.all(busy)
    })
  }

  for (const [what, [ms, work]] of Object.entries(works)) {
    test(`is given up for ${what} after its time`, async (t) => {
      setLimits(t, set)
      using time = takeTime()
      await assert.rejects(settlesAfter(time, ms, work(silentServers())), StoreUnavailable)
    })
  }
})

describe('a record that waits for its customer', () => {
  const waitFor = async (leftMs: number) => {
    using time = takeTime()
    const ran: string[] = []
    const run = async (text: string) => void ran.push(text)
    const session = { run, rows: async () => [{ changes: '1', digest: '1' }] } as unknown as Session
    const deadline = time.elapsedMs() + leftMs
    await openWaitingLocks(session, resourceOf('statements'), deadline).wait?.(['acme'], false)
    return ran[0]?.split('; ').slice(0, 2)
  }

  test('has its waits ended by the database, so that its own work has time', async (t) => {
    setLimits(t, { lockedPutMs: 500, putClaimMs: 50, putCustomerMs: 2000 })
    const settings = (lockMs: number, statementMs: number) => [
      `set local lock_timeout = '${lockMs}'`,
      `set local statement_timeout = '${statementMs}'`,
    ]
    assert.deepEqual(await waitFor(5000), settings(2000, 4500))
    assert.deepEqual(await waitFor(550), settings(50, 50))
    await assert.rejects(waitFor(549), CustomersLocked)
  })
})
