import assert from 'node:assert/strict'
import { setTimeout as passing } from 'node:timers/promises'
import { freePort } from '../support/free-port.ts'
import { startHaproxy } from '../support/haproxy.ts'
import { longTest } from '../support/long.ts'
import { untilHolds } from '../support/until.ts'
import { quote } from './support/acts.ts'
import { type Answer, send, spreadOf, statusOf } from './support/client.ts'
import { askForToken, type BursarServer, openCluster } from './support/cluster.ts'
import { debianProgram } from './support/debian-program.ts'
import { startImports } from './support/imports.ts'
import { startTraffic } from './support/traffic.ts'

/** The configuration of examples/cluster asks /readyz twice a second and believes two answers. */
const LAME_DUCK_MS = 3000
const ROUNDS = 2

longTest('a rolling restart behind HAProxy answers every request', async (t) => {
  debianProgram('/usr/sbin/haproxy', 'haproxy')
  const cluster = await openCluster({
    env: {
      BURSAR_LAME_DUCK_MS: String(LAME_DUCK_MS),
      BURSAR_TRUSTED_PROXIES: '127.0.0.1',
      BURSAR_FEE_QUOTES_OPEN_MAX: '100000',
    },
  })
  t.after(() => cluster.close())
  const port = await freePort()
  const ports = cluster.urls.map((url) => Number(new URL(url).port))
  const haproxy = await startHaproxy(port, ports)
  t.after(() => haproxy.kill())
  const url = `http://127.0.0.1:${port}`
  const traffic = startTraffic({ ...cluster, urls: [url], restMs: 10 })
  const writes = [
    startWrites(() => quote(url, cluster.tokens.get('ash'))),
    startWrites(() => quote(url, cluster.tokens.get('birch'))),
    startWrites(() => askForToken(url, 'cedar')),
  ]
  for (const { stop } of writes) cluster.running.add(stop)
  const imports = startImports(cluster)

  const startedAt = performance.now()
  const leaving: number[] = []
  const starting: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const server of cluster.servers) {
      const { leftMs, readyMs } = await restart(server)
      leaving.push(leftMs)
      starting.push(readyMs)
    }
  }
  const restartsMs = performance.now() - startedAt
  const isEnough = () =>
    traffic.since(startedAt).answered > 1000 &&
    writes.reduce((sum, { count }) => sum + count(), 0) > 200
  await untilHolds('enough is answered', isEnough)
  const generations = await imports.stop()
  const { answered, refused, cut, walks, times } = await traffic.stop()
  const written = (await Promise.all(writes.map(({ stop }) => stop()))).flat()
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  const reads = spreadOf(times)
  const changes = spreadOf(written.map(({ ms }) => ms))
  t.diagnostic(
    `${leaving.length} restarts in ${seconds(restartsMs)} s; a server left within ` +
      `${seconds(Math.max(...leaving))} s and was ready within ${seconds(Math.max(...starting))} s; ` +
      `${answered} reads, median ${reads.median.toFixed(0)} ms, slowest ${reads.slowest.toFixed(0)} ms; ` +
      `${written.length} quotes and tokens, median ${changes.median.toFixed(0)} ms, slowest ` +
      `${changes.slowest.toFixed(0)} ms; ${walks} walks, ${generations} imports`,
  )
  assert.deepEqual({ refused, cut }, { refused: 0, cut: 0 })
  const failed = written.filter((answer) => statusOf(answer) !== 200)
  assert.deepEqual(failed.slice(0, 3).map(describeAnswer), [], `${failed.length} have failed`)
})

/** As an operator does it: the next server is restarted once this one is ready. */
async function restart(server: BursarServer): Promise<{ leftMs: number; readyMs: number }> {
  const signalledAt = performance.now()
  assert.equal(await server.program.kill('SIGTERM'), 0, server.program.errors())
  const leftMs = performance.now() - signalledAt
  const startedAt = performance.now()
  await server.restart()
  await untilHolds(
    'it is ready again',
    async () => statusOf(await send(server.url, '/readyz')) === 200,
  )
  return { leftMs, readyMs: performance.now() - startedAt }
}

/** Repeats a request and keeps every answer. */
function startWrites(request: () => Promise<Answer>) {
  const answers: Answer[] = []
  let isOver = false
  const loop = async () => {
    while (!isOver) {
      answers.push(await request())
      await passing(20)
    }
  }
  const ended = loop()
  return {
    count: () => answers.length,
    stop: async () => {
      isOver = true
      await ended
      return answers
    },
  }
}

const describeAnswer = (answer: Answer): string =>
  answer.kind === 'cut' ? answer.code : `${answer.status} ${answer.text}`
