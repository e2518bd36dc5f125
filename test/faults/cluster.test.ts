import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { customerScopes } from '@bursar/contract'
import { delayReplay } from '../support/delay-replay.ts'
import { isLong } from '../support/long.ts'
import type { PostgresServer } from '../support/postgres-server.ts'
import { untilHolds } from '../support/until.ts'
import { disable, revoke } from './support/acts.ts'
import { askServer } from './support/ask-server.ts'
import { describeTimes, send, statusOf } from './support/client.ts'
import {
  askForToken,
  type Cluster,
  databaseName,
  openCluster,
  serve,
  tokenOf,
  untilTokens,
} from './support/cluster.ts'
import { startImports } from './support/imports.ts'
import { customers } from './support/ledger.ts'
import { openStallingProxy } from './support/stalling-proxy.ts'
import { startTraffic, type Traffic } from './support/traffic.ts'

/** Faults of server processes and of their sessions. The database itself has no fault. */

let cluster: Cluster

before(async () => {
  cluster = await openCluster()
})
after(() => cluster?.close())

describe('with a primary, two standbys and three server processes', () => {
  test('SIGKILL of one server loses at most its requests in flight, and the others go on', async (t) => {
    const traffic = startTraffic(cluster)
    await traffic.untilAnswered(100)
    const [victim] = cluster.servers
    assert.ok(victim)
    const killedAt = performance.now()
    await victim.program.kill('SIGKILL')
    await traffic.untilAnswered(100)
    const startedAt = performance.now()
    await victim.restart()
    await untilHolds(
      'it is ready again',
      async () => statusOf(await send(victim.url, '/readyz')) === 200,
    )
    const readyMs = performance.now() - startedAt
    traffic.isBack(victim.url)
    await traffic.untilAnswered(100)
    const { cut, refused, answered } = traffic.since(killedAt)
    await traffic.stop()
    t.diagnostic(
      `${cut} of ${answered} reads failed; started again it is ready after ${readyMs.toFixed(0)} ms`,
    )
    assert.ok(cut <= traffic.inFlightMax, `${cut} were cut`)
    assert.equal(refused, 0)
  })

  test('reads survive the end of every session with every database server', async (t) => {
    const traffic = startTraffic(cluster)
    await traffic.untilAnswered(100)
    const endedAt = performance.now()
    const nodes = [cluster.primary, ...cluster.standbys]
    for (const node of nodes) await askServer(node, endSessions)
    await untilTokens(cluster.urls)
    const healedMs = performance.now() - endedAt
    await traffic.untilAnswered(100)
    const { refused, cut, answered } = traffic.since(endedAt)
    await traffic.stop()
    t.diagnostic(`${refused} of ${answered} reads refused; tokens after ${healedMs.toFixed(0)} ms`)
    assert.equal(cut, 0)
    // Each end may meet every read that is in progress then.
    assert.ok(refused <= nodes.length * traffic.inFlightMax, `${refused} were refused`)
  })

  test('a standby whose replay is paused is not read, and no list goes backwards', async (t) => {
    const [one] = cluster.standbys
    assert.ok(one)
    const traffic = startTraffic(cluster)
    const imports = startImports(cluster)
    await untilHolds('the standby is read from', () => isReadFrom(one, traffic))
    const pausedAt = performance.now()
    await askServer(one, 'select pg_wal_replay_pause()')
    await untilHolds(
      'the standby is not read any more',
      async () => !(await isReadFrom(one, traffic)),
    )
    const leftMs = performance.now() - pausedAt
    const newest = cluster.history.newest('ash')
    await untilShown(newest)
    await traffic.untilAnswered(100)
    assert.ok(!(await isReadFrom(one, traffic)), 'it is read from while it is paused')
    const resumedAt = performance.now()
    await askServer(one, 'select pg_wal_replay_resume()')
    await untilHolds('it is read from again', () => isReadFrom(one, traffic))
    const backMs = performance.now() - resumedAt
    const generations = await imports.stop()
    const { refused, cut, answered, walks, staleMs } = await traffic.stop()
    t.diagnostic(
      `left ${leftMs.toFixed(0)} ms after the pause, read from again after ${backMs.toFixed(0)} ms; ` +
        `the oldest answer had been replaced for ${staleMs.toFixed(0)} ms; ` +
        `${answered} reads, ${walks} walks, ${generations} imports`,
    )
    assert.deepEqual([refused, cut], [0, 0])
  })

  test('health names the servers of the database, and which of them are used', async () => {
    const [url = ''] = cluster.urls
    const [one] = cluster.standbys
    assert.ok(one)
    await cluster.addClient('watcher', null, ['ingest:read_health'])
    const isKnown = async () => statusOf(await askForToken(url, 'watcher')) === 200
    await untilHolds('the client is known', isKnown)
    const token = await tokenOf(url, 'watcher')
    const stateOf = async (server: PostgresServer) => {
      const answer = await send(url, '/ingest/v1/health', { token })
      assert.ok(answer.kind !== 'cut' && answer.status === 200)
      const { servers } = JSON.parse(answer.text).checks.store
      return servers.find(({ name }: { name: string }) => name.endsWith(`:${server.port}`))
    }
    const { role, is_used: isUsed } = await stateOf(cluster.primary)
    assert.deepEqual({ role, isUsed }, { role: 'primary', isUsed: true })
    await untilHolds('the standby is used', async () => (await stateOf(one)).is_used)
    await askServer(one, 'select pg_wal_replay_pause()')
    try {
      await untilHolds('it is not', async () => !(await stateOf(one)).is_used)
      assert.equal((await stateOf(one)).role, 'standby')
    } finally {
      await askServer(one, 'select pg_wal_replay_resume()')
    }
    await untilHolds('it is used again', async () => (await stateOf(one)).is_used)
  })

  test('a cursor works on every server, even on one whose standby is behind', async (t) => {
    await cluster.untilLevel()
    const next = cluster.history.newest('ash') + 1
    const ofPrimary = await serve({ ...cluster.env, DATABASE_READ_URLS: '' })
    t.after(() => ofPrimary.program.kill('SIGKILL'))
    const delay = (by: '1h' | '0') =>
      Promise.all(
        cluster.standbys.map((standby) => delayReplay((sql) => askServer(standby, sql), by)),
      )
    await delay('1h')
    try {
      const traffic = startTraffic({ ...cluster, urls: [...cluster.urls, ofPrimary.url] })
      await cluster.importGeneration(customers, next)
      await traffic.untilAnswered(200)
      await cluster.importGeneration(customers, next + 1)
      await traffic.untilAnswered(200)
      const { refused, cut } = await traffic.stop()
      assert.deepEqual([refused, cut], [0, 0])
    } finally {
      await delay('0')
    }
  })

  test('overlapping files imported at once are each accepted or rejected as a whole, while lists stay consistent', async (t) => {
    const traffic = startTraffic(cluster)
    const rounds = isLong ? 300 : 8
    const first = Math.max(...customers.map(cluster.history.newest)) + 1
    let refusedFiles = 0
    for (let round = 0; round < rounds; round += 1) {
      const at = first + 3 * round
      const reports = await Promise.all([
        cluster.importGeneration(['ash', 'birch'], at),
        cluster.importGeneration(['birch', 'cedar'], at + 1),
        cluster.importGeneration(['cedar', 'ash'], at + 2),
      ])
      refusedFiles += reports.filter(({ faultCount }) => faultCount > 0).length
      // The first of the three merges cannot be rejected as older.
      assert.ok(reports.some(({ faultCount }) => faultCount === 0))
    }
    await cluster.untilLevel()
    const { refused, cut, walks } = await traffic.stop()
    t.diagnostic(`${3 * rounds} files, ${refusedFiles} of them refused as older; ${walks} walks`)
    assert.deepEqual([refused, cut], [0, 0])
    assert.deepEqual(await storedGenerations(), customers.map(cluster.history.newest))
  })

  test('a revoked token and a disabled client are refused on every process', async (t) => {
    await cluster.addClient('leaver', 'ash', customerScopes)
    const [url = ''] = cluster.urls
    const [revoked, left] = [await tokenOf(url, 'leaver'), await tokenOf(url, 'leaver')]
    for (const server of cluster.urls) {
      await untilHolds(
        'both are good',
        async () =>
          (await statusAt(server, revoked)) === 200 && (await statusAt(server, left)) === 200,
      )
    }
    const refusedMs = async (token: string) => {
      const startedAt = performance.now()
      for (const server of cluster.urls) {
        await untilHolds('it is refused', async () => (await statusAt(server, token)) === 401)
      }
      return performance.now() - startedAt
    }
    assert.equal(statusOf(await revoke(url, 'leaver', revoked)), 200)
    const revokedMs = await refusedMs(revoked)
    assert.equal(await statusAt(url, left), 200)
    assert.ok(await disable(cluster, 'leaver'))
    const disabledMs = await refusedMs(left)
    for (const server of cluster.urls) {
      assert.equal(statusOf(await askForToken(server, 'leaver')), 401)
    }
    t.diagnostic(
      `revoked everywhere after ${revokedMs.toFixed(0)} ms, disabled after ${disabledMs.toFixed(0)} ms`,
    )
  })

  test('a standby that stops answering causes no answer but 200 and 503, is marked as down, and is read again when it answers', async (t) => {
    const [one] = cluster.standbys
    assert.ok(one)
    const proxy = await openStallingProxy(one.port)
    const server = await serve({
      ...cluster.env,
      BURSAR_DATABASE_TIMEOUT_MS: '900',
      DATABASE_READ_URLS: `postgres://bursar@127.0.0.1:${proxy.port}/${databaseName}`,
    })
    t.after(async () => {
      await server.program.kill('SIGKILL')
      proxy.close()
    })
    const traffic = startTraffic({ ...cluster, urls: [server.url] })
    await traffic.untilAnswered(100)
    const stalledAt = performance.now()
    proxy.stall()
    await untilHolds('reads go on', () => areAnswered(server.url, cluster, 10))
    const goneOnMs = performance.now() - stalledAt
    await traffic.untilAnswered(50)
    const stalled = traffic.since(stalledAt)
    const flowsAt = performance.now()
    proxy.flow()
    const before = proxy.forwarded()
    await untilHolds(
      'the standby is read from again',
      // A health check forwards only a few hundred bytes.
      async () => proxy.forwarded() > before + 100_000,
    )
    const backMs = performance.now() - flowsAt
    const { cut } = await traffic.stop()
    t.diagnostic(
      `${stalled.refused} refused, ${describeTimes(stalled.times)}; reads go on after ${goneOnMs.toFixed(0)} ms, ` +
        `the standby is read from ${backMs.toFixed(0)} ms after it answers`,
    )
    assert.equal(cut, 0)
  })
})

const endSessions = `select pg_terminate_backend(pid) from pg_stat_activity where usename in ('bursar', 'bursar_operator')`

/** Whether a database server gets some of the next reads of customers, health checks aside. */
async function isReadFrom(server: PostgresServer, traffic: Traffic): Promise<boolean> {
  const lastRead = `select max(query_start) from pg_stat_activity
    where usename = 'bursar' and query like '%set_config(''bursar.customer_id''%'`
  const [before] = await askServer(server, lastRead)
  await traffic.untilAnswered(60)
  const [after] = await askServer(server, lastRead)
  return String(before) !== String(after)
}

/** Waits until every server process answers with a generation, or with a later one. */
async function untilShown(generation: number): Promise<void> {
  const token = cluster.tokens.get('ash')
  for (const url of cluster.urls) {
    await untilHolds('what was acknowledged is shown', async () => {
      const answer = await send(url, '/v2/transfer/fiat-accounts?limit=1', { token })
      if (answer.kind === 'cut' || answer.status !== 200) return false
      const [item] = JSON.parse(answer.text).items
      return Number(item.metadata.generation) >= generation
    })
  }
}

/** The one generation of each customer that the primary holds. */
async function storedGenerations(): Promise<number[]> {
  const rows = await askServer(
    cluster.primary,
    `select customer.id, min(source_version), max(source_version) from bursar.fiat_account
     join bursar.customer on number = customer group by 1 order by 1`,
  )
  return rows.map(([customer, least, most]) => {
    assert.equal(least, most, `${customer} is of several generations`)
    return Number(most)
  })
}

async function statusAt(url: string, token: string): Promise<number> {
  const status = statusOf(await send(url, '/v2/transfer/fiat-accounts?limit=1', { token }))
  assert.ok([200, 401, 503].includes(status), `answered ${status}`)
  return status
}

/** Whether so many reads in a row are answered. */
async function areAnswered(url: string, { tokens }: Cluster, count: number): Promise<boolean> {
  const token = tokens.get('ash')
  for (let at = 0; at < count; at += 1) {
    const answer = await send(url, '/v2/transfer/fiat-accounts?limit=1', { token })
    if (statusOf(answer) !== 200) return false
  }
  return true
}
