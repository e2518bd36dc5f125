import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { callUrl } from '../../test/support/harness.ts'
import { type Listening, startProcess } from '../../test/support/server-process.ts'
import type { Measured, Row } from '../report.ts'
import { type LoadRequest, type LoadResult, runWrk } from '../wrk.ts'
import { startNginx } from './nginx.ts'
import type { ReadWorld } from './read-world.ts'

const ACCOUNTS = '/v2/transfer/fiat-accounts'

type Reads = { readonly world: ReadWorld; readonly service: Listening; readonly seconds: number }

/** Reads beside a bare node:http server and nginx with the same bytes, and beside the SQL alone. */
export async function readRows(reads: Reads): Promise<readonly Row[]> {
  const { world, service, seconds } = reads
  const { goals } = world
  const load = (requests: readonly LoadRequest[]) => {
    return { url: service.url, tokens: world.tokens, requests, seconds }
  }
  const ours = (requests: readonly LoadRequest[], headers = {}): Promise<LoadResult> =>
    runWrk({ ...load(requests), headers })
  const bare = await bareOf(reads)
  const nginx = await startNginx(world.folder, await bodiesOf(reads))
  const theirs = async (url: string, path: string) =>
    (await runWrk({ url, tokens: [], requests: [{ path }], seconds })).rate
  const hot = [{ path: `${ACCOUNTS}?limit=100` }]
  const beside = (
    name: string,
    goal: number,
    requests: (round: number) => readonly LoadRequest[],
    reference: { readonly name: string; readonly rate: () => Promise<number> },
    headers: () => Promise<Record<string, string>> = async () => ({}),
  ): Row => ({
    name,
    goal,
    reference: reference.name,
    unit: '/s',
    measure: async (round): Promise<Measured> => ({
      theirs: await reference.rate(),
      ours: (await ours(requests(round), await headers())).rate,
    }),
  })
  const ofBare = (path: string) => ({ name: '/s bare', rate: () => theirs(bare.url, path) })
  const ofNginx = (path: string) => ({ name: '/s nginx', rate: () => theirs(nginx.url, path) })
  const ofGets = { name: '/s gets', rate: async () => (await ours(world.gets(0))).rate }
  const ofSql = (limit: number) => ({ name: '/s SQL', rate: () => world.sqlRate(limit, seconds) })
  const latency = (limit: number): Row => ({
    name: `p99 of lists of ${limit}, at peak`,
    goal: 2.5,
    atMost: true,
    unit: 'ms',
    reference: 'ms mean',
    measure: async () => {
      const { p99, mean } = await ours(world.pages(limit))
      return { ours: p99, theirs: mean }
    },
  })
  // The compiler has seen every path before the first row. A cold list of 1,000 may take 140 ms on
  // PostgreSQL. Of 32 at a time on ten sessions, the last two would wait for three rounds of them,
  // past the 400 ms after which the answer is 503.
  for (const warm of [world.getsOfOthers(), hot, world.pages(1000)]) {
    await runWrk({ ...load(warm), connections: 8 })
  }
  return [
    beside('get, cold', goals.get, world.gets, ofBare('/get')),
    beside('get, cold, 50 customers', goals.get, world.getsOfOthers, ofBare('/get')),
    beside('list of 100, cold', goals.coldList, () => world.pages(100), ofBare('/list')),
    beside('list of 100, hot', goals.hotList, () => hot, ofBare('/list')),
    beside('get, beside nginx', goals.nginx, world.gets, ofNginx('/get.json')),
    beside('list of 100, hot, beside nginx', goals.nginx, () => hot, ofNginx('/list.json')),
    beside(
      'list of 100, matching If-None-Match',
      1,
      () => hot,
      ofGets,
      async () => ({
        'if-none-match': (await readPage(reads)).headers.get('etag') ?? '',
      }),
    ),
    beside('list of 1,000, cold', 0.75, () => world.pages(1000), ofSql(1000)),
    latency(100),
    latency(1000),
  ]
}

const readPage = async ({ world, service }: Reads) =>
  await callUrl(`${service.url}${ACCOUNTS}?limit=100`, { token: world.tokens[0] ?? '' })

async function bodiesOf(reads: Reads) {
  const { world, service } = reads
  const [first] = world.gets(0)
  const get = await callUrl(`${service.url}${first?.path}`, { token: world.tokens[0] ?? '' })
  const list = await readPage(reads)
  if (get.status !== 200 || list.status !== 200) throw new Error(get.text + list.text)
  return { get: get.text, list: list.text }
}

/** The bare server answers with every header of ours. */
async function bareOf(reads: Reads): Promise<Listening> {
  const { headers } = await readPage(reads)
  const file = join(reads.world.folder, 'bare.json')
  const answers = { headers: ownHeaders(headers), bodies: await bodiesOf(reads) }
  writeFileSync(file, JSON.stringify(answers))
  return await startProcess(['bench/servers/bare-server.ts', file])
}

/** The headers of an answer that node:http does not add by itself. */
export const ownHeaders = (headers: Headers): readonly (readonly [string, string])[] =>
  [...headers].filter(([name]) => !addedByNode.has(name))

/** The length differs by answer. */
const addedByNode = new Set(['connection', 'date', 'keep-alive', 'content-length'])
