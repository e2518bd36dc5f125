import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { freePort } from '../../test/support/free-port.ts'
import { type Listening, startProcess } from '../../test/support/server-process.ts'
import type { Row } from '../report.ts'
import { type LoadRequest, runWrk } from '../wrk.ts'
import type { ReadWorld } from './read-world.ts'

type Parts = {
  /** Of the servers of the benchmark, with their store. */
  readonly env: Readonly<Record<string, string>>
  readonly world: ReadWorld
  /** The server that has issued the tokens. */
  readonly service: Listening
  readonly seconds: number
}

/** Many, because the difference is smaller than the spread of a busy machine. */
const ROUNDS = 10
const WARM_ROUNDS = 3

/**
 * The processor time of the same reads on a server that measures and on one that does not, in
 * alternating pairs. Both are new, so that neither has compiled more than the other.
 */
export async function measureMetrics(
  { env, world, service, seconds }: Parts,
  measure: (rows: readonly Row[]) => Promise<void>,
): Promise<void> {
  const start = async (own: Readonly<Record<string, string>>): Promise<Listening> => {
    const port = String(await freePort())
    // All have one issuer, so that all accept the tokens.
    const started = await startProcess(['dist/main.js', 'serve', '--port', port], {
      env: { ...ownStore(env), ...own, BURSAR_PUBLIC_URL: service.url },
    })
    return { ...started, url: `http://127.0.0.1:${port}` }
  }
  const without = await start({})
  const measuring = await start({ BURSAR_OPERATOR_PORT: '0' })
  /** Microseconds of the processor for each request. Other programs change it little. */
  const cost = async ({ url, pid }: Listening, requests: readonly LoadRequest[]) => {
    const before = processorMicros(pid)
    const { rate } = await runWrk({ url, tokens: world.tokens, requests, seconds })
    return (processorMicros(pid) - before) / (rate * seconds)
  }
  const row = (name: string, requests: readonly LoadRequest[]): Row => ({
    name: `${name}, with metrics`,
    reference: 'µs without',
    goal: 1.03,
    atMost: true,
    unit: 'µs',
    rounds: ROUNDS,
    measure: async (round) => {
      for (let warm = 0; round === 0 && warm < WARM_ROUNDS; warm += 1) {
        for (const each of [without, measuring]) await cost(each, requests)
      }
      // Neither of them is always the first.
      const order = round % 2 === 0 ? [measuring, without] : [without, measuring]
      const costs = new Map<Listening, number>()
      for (const each of order) costs.set(each, await cost(each, requests))
      return { ours: costs.get(measuring) ?? 0, theirs: costs.get(without) ?? 0 }
    },
  })
  await measure([
    row('get, cold', world.gets(0)),
    row('list of 100, cold', world.pages(100)),
    row('list of 100, hot', [{ path: '/v2/transfer/fiat-accounts?limit=100' }]),
  ])
  for (const each of [without, measuring]) await each.stop()
}

/** An embedded store has one server, so each gets a copy. The server of the store is idle. */
function ownStore(env: Parts['env']): Parts['env'] {
  const path = env.DATABASE_URL?.match(/^sqlite:(.*)$/)?.[1]
  if (path === undefined) return env
  const folder = mkdtempSync(join(tmpdir(), 'bursar-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  cpSync(dirname(path), folder, { recursive: true })
  return { ...env, DATABASE_URL: `sqlite:${join(folder, basename(path))}` }
}

/** What every thread of a process has had of the processors. */
function processorMicros(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((task) => {
    const [running] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')
    return Number(running)
  })
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1000
}
