import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aFiatAccount, anId } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'
import { askServer, openSession } from './support/ask-server.ts'
import { type Answer, describeTimes, send, statusOf } from './support/client.ts'
import {
  askForToken,
  type Cluster,
  databaseName,
  openCluster,
  serve,
  startServer,
  untilTokens,
} from './support/cluster.ts'
import { customers, idOf, isLive, placeCount } from './support/ledger.ts'
import { openSmallDisk } from './support/small-disk.ts'
import { openStallingProxy } from './support/stalling-proxy.ts'
import { assertUnavailable, startTraffic } from './support/traffic.ts'

/**
 * Faults of a database without standbys. Requests must be refused and not queue up, so each test
 * waits for all of their answers before it ends the fault.
 */

/** The deadline of requests that the product has by default, which these tests are about. */
const deadline = { BURSAR_DATABASE_TIMEOUT_MS: '900' }

test('a database that stops answering: 503 for every request, and it recovers when the database answers', async (t) => {
  const cluster = await openCluster({ standbys: [], servers: 1 })
  t.after(() => cluster.close())
  const proxy = await openStallingProxy(cluster.primary.port)
  const url = `postgres://bursar@127.0.0.1:${proxy.port}/${databaseName}`
  const operatorUrl = url.replace('bursar@', 'bursar_operator@')
  const server = await serve({
    ...cluster.env,
    ...deadline,
    DATABASE_URL: url,
    OPERATOR_DATABASE_URL: operatorUrl,
  })
  t.after(async () => {
    await server.program.kill('SIGKILL')
    proxy.close()
  })
  const traffic = startTraffic({ ...cluster, urls: [server.url] })
  await traffic.untilAnswered(100)
  proxy.stall()
  const times: number[] = []
  // A health check marks the database as down. Requests wait for their deadline before it, and are
  // refused at once after it.
  const isDown = () => /lost the primary/.test(server.program.errors())
  let roundsLeft = 5
  await untilHolds('the server is refused before and after it is marked as down', async () => {
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, () => readOne(server.url, cluster)),
      askForToken(server.url, 'ash'),
    ])
    for (const answer of answers) {
      assert.equal(statusOf(answer), 503)
      times.push(answer.ms)
    }
    if (isDown()) roundsLeft -= 1
    return roundsLeft === 0
  })
  const flowsAt = performance.now()
  proxy.flow()
  await untilTokens([server.url])
  await untilHolds(
    'reads are answered',
    async () => statusOf(await readOne(server.url, cluster)) === 200,
  )
  const healedMs = performance.now() - flowsAt
  await traffic.untilAnswered(100)
  const { cut } = await traffic.stop()
  const told = describeTimes(times)
  t.diagnostic(`${times.length} requests refused, ${told}; healed after ${healedMs.toFixed(0)} ms`)
  assert.equal(cut, 0)
})

test('a database that stops answering while a server starts: the server is ready once the database answers', async (t) => {
  const cluster = await openCluster({ standbys: [], servers: 1 })
  t.after(() => cluster.close())
  // The first session with a deadline comes after the checks of the schema and of the roles.
  let hasStalled = false
  const proxy = await openStallingProxy(cluster.primary.port, (said) => {
    if (hasStalled || !/statement_timeout\0[1-9]/.test(said.toString())) return
    hasStalled = true
    proxy.stall()
  })
  t.after(() => proxy.close())
  const url = `postgres://bursar@127.0.0.1:${proxy.port}/${databaseName}`
  await using opened = new AsyncDisposableStack()
  const server = await startServer({ ...cluster.env, ...deadline, DATABASE_URL: url }, opened)
  await untilHolds('the server has met the fault', () =>
    /the store is unavailable, so the server starts again/.test(server.program.errors()),
  )
  assert.ok(hasStalled)
  proxy.flow()
  await server.program.firstLine
  assert.equal(statusOf(await readOne(server.url, cluster)), 200)
})

test('connections used up by others: 503 with Retry-After, and it recovers when they are closed', async (t) => {
  const cluster = await openCluster({
    standbys: [],
    servers: 1,
    settings: ['max_connections = 40', 'superuser_reserved_connections = 5'],
    env: deadline,
  })
  t.after(() => cluster.close())
  const traffic = startTraffic(cluster)
  await traffic.untilAnswered(100)
  await askServer(cluster.primary, 'create role crowd login')
  const crowd = await crowdOut(cluster)
  const refused: Answer[] = []
  for (let round = 0; round < 5; round += 1) {
    refused.push(
      ...(await Promise.all(
        Array.from({ length: 50 }, () => readOne(cluster.urls[0] ?? '', cluster)),
      )),
    )
  }
  for (const answer of refused) {
    assert.ok(answer.kind === 'answered')
    assertUnavailable(answer)
  }
  const freedAt = performance.now()
  for (const session of crowd) session.destroy()
  await untilTokens(cluster.urls)
  const healedMs = performance.now() - freedAt
  await traffic.untilAnswered(100)
  const { cut } = await traffic.stop()
  const told = describeTimes(refused.map(({ ms }) => ms))
  t.diagnostic(
    `${refused.length} requests refused, ${told}; healed after ${healedMs.toFixed(0)} ms`,
  )
  assert.equal(cut, 0)
})

test('one connection and a statement that does not end: 503 with Retry-After, and reads are answered after it', async (t) => {
  const cluster = await openCluster({
    standbys: [],
    servers: 1,
    env: { ...deadline, BURSAR_DATABASE_CONNECTIONS_MAX: '1' },
  })
  t.after(() => cluster.close())
  const [url = ''] = cluster.urls
  const holder = openSession(cluster.primary)
  t.after(() => holder.destroy())
  await holder.execute(
    'begin; lock table bursar.fiat_account, bursar.fiat_account_full in access exclusive mode',
  )
  const times: number[] = []
  let atOnce = 0
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all([
      ...Array.from({ length: 120 }, () => listOne(url, cluster)),
      ...Array.from({ length: 60 }, () => readOne(url, cluster)),
    ])
    for (const answer of answers) {
      assert.ok(answer.kind === 'answered')
      assertUnavailable(answer)
      times.push(answer.ms)
    }
    atOnce += answers.filter(({ ms }) => ms < 400).length
  }
  await holder.execute('rollback')
  const endedAt = performance.now()
  await untilHolds('reads are answered', async () => statusOf(await listOne(url, cluster)) === 200)
  const healedMs = performance.now() - endedAt
  const traffic = startTraffic(cluster)
  await traffic.untilAnswered(200)
  const { cut } = await traffic.stop()
  const told = describeTimes(times)
  t.diagnostic(
    `${times.length} requests refused, ${atOnce} of them in under 400 ms, ${told}; healed after ${healedMs.toFixed(0)} ms`,
  )
  assert.equal(cut, 0)
})

test('a full disk: the import fails as a whole, reads are answered or refused, and no record changes', async (t) => {
  const disk = openSmallDisk()
  t.after(() => disk.remove())
  const cluster = await openCluster({
    standbys: [],
    servers: 1,
    settings: ['max_wal_size = 48MB', 'min_wal_size = 32MB', 'wal_keep_size = 0'],
    ...(disk.folder !== undefined && { under: disk.folder }),
  })
  t.after(() => cluster.close())
  await cluster.importGeneration(customers, 2)
  const before = await everyRow(cluster)
  const traffic = startTraffic(cluster)
  const filledAt = performance.now()
  disk.fill(cluster.primary)
  const failures: string[] = []
  for (const records of disk.tooMany) {
    const failure = await importCrowd(cluster, records).then(
      ({ faultCount, added }) => `it was taken: ${added} added, ${faultCount} faults`,
      (error: unknown) => (error as Error).message,
    )
    failures.push(failure)
    assert.doesNotMatch(failure, /taken/)
  }
  await untilHolds('reads are answered or refused', () => {
    const { answered, refused } = traffic.since(filledAt)
    return answered + refused >= 50
  })
  const freedAt = performance.now()
  disk.makeRoom(cluster.primary)
  if (cluster.primary.process.exitCode !== null) await cluster.primary.restart()
  await untilTokens(cluster.urls)
  const healedMs = performance.now() - freedAt
  assert.deepEqual(await everyRow(cluster), before)
  assert.equal((await importCrowd(cluster, 2000)).added, 2000)
  await cluster.importGeneration(customers, 3)
  await traffic.untilAnswered(100)
  const { refused, answered } = await traffic.stop()
  t.diagnostic(
    `${disk.kind}; ${refused} of ${answered} reads refused; healed ${healedMs.toFixed(0)} ms after there was room`,
  )
  t.diagnostic(`the imports: ${[...new Set(failures)].join('; ')}`)
})

const importCrowd = ({ importRecords }: Cluster, count: number) =>
  importRecords(
    Array.from({ length: count }, (_, at) =>
      aFiatAccount({ id: anId(at), customer_id: 'crowd', ref_id: `crowd-${at}` }),
    ),
  )

const readOne = (url: string, { tokens }: Cluster) => {
  const place = Array.from({ length: placeCount }, (_, at) => at).find((at) => isLive(at, 1)) ?? 0
  return send(url, `/v2/transfer/fiat-accounts/${idOf('ash', place)}`, { token: tokens.get('ash') })
}

const listOne = (url: string, { tokens }: Cluster) =>
  send(url, '/v2/transfer/fiat-accounts?limit=1', { token: tokens.get('ash') })

/** Other sessions take every connection of the database, so that the servers have none. */
async function crowdOut({ primary }: Cluster) {
  const crowd: ReturnType<typeof openSession>[] = []
  // One session for every look: the slots of ended ones are free some time later only.
  using looking = new DisposableStack()
  const superuser = looking.adopt(openSession(primary), (session) => session.destroy())
  const countOf = async (sql: string) => Number((await superuser.query({ text: sql }))[0]?.[0])
  // The slot of an ended session becomes free later than its row in pg_stat_activity disappears, so
  // this repeats until a round changes nothing.
  const isOut = async () => {
    const before = crowd.length
    const ended = await countOf(
      `select count(pg_terminate_backend(pid)) from pg_stat_activity where usename in ('bursar', 'bursar_operator')`,
    )
    for (;;) {
      const session = openSession(primary, databaseName, 'crowd')
      const isIn = await session.query({ text: 'select 1' }).then(
        () => true,
        () => false,
      )
      if (!isIn) {
        session.destroy()
        break
      }
      crowd.push(session)
    }
    const left = await countOf(
      `select count(*) from pg_stat_activity where usename in ('bursar', 'bursar_operator')`,
    )
    return ended === 0 && crowd.length === before && left === 0
  }
  await untilHolds('the servers have no connection left', isOut)
  return crowd
}

async function everyRow({ primary }: Cluster): Promise<(string | null)[][]> {
  return await askServer(
    primary,
    'select customer, id, deleted, body from bursar.fiat_account_full order by customer, id',
  )
}
