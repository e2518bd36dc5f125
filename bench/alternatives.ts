import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pausing } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import { callUrl } from '../test/support/harness.ts'
import { startProcess } from '../test/support/server-process.ts'
import { type OpenedStore, openEmbedded } from './embedded.ts'
import { openPostgres } from './postgres.ts'
import { report, writeResults } from './report.ts'
import { account, BIG, customerOf } from './world.ts'
import { type LoadRequest, runWrk } from './wrk.ts'

/**
 * Gets and lists of 100 beside what a user could choose instead, on the same accounts:
 * `node bench/alternatives.ts FOLDER`, where the folder has Prism, json-server and PostGraphile.
 * Only Bursar checks a token, and hides the accounts of other customers.
 */
const RECORDS = 10_000
const ROUNDS = 5
const SECONDS = 3

type Server = {
  readonly url: string
  readonly gets: readonly LoadRequest[]
  readonly lists: readonly LoadRequest[]
  readonly tokens?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

const [folder = ''] = process.argv.slice(2)
const program = (name: string) => join(folder, 'node_modules/.bin', name)
const embedded = await openEmbedded(RECORDS)
const postgres = await openPostgres(RECORDS, false)
const owned = Array.from({ length: RECORDS }, (_, at) => at).filter((at) => customerOf(at) === BIG)

/** Starts a server of another make, and waits for its answer to the first get. */
async function start(
  wordsOf: (port: string) => readonly string[],
  rest: Omit<Server, 'url'>,
): Promise<Server> {
  const port = String(await freePort())
  await startProcess(wordsOf(port))
  const url = `http://127.0.0.1:${port}`
  const [{ path, body } = { path: '' }] = rest.gets
  const headers = { ...rest.headers, authorization: `Bearer ${rest.tokens?.[0]}` }
  const posted = body === undefined ? {} : { method: 'POST', body }
  const ask = () => callUrl(`${url}${path}`, { ...posted, headers })
  // Some of them print their URLs before they listen.
  let answered = await ask().catch(() => undefined)
  for (; answered === undefined; answered = await ask().catch(() => undefined)) await pausing(100)
  const { status, text } = answered
  if (status !== 200) throw new Error(`${wordsOf('').join(' ')}: ${text}`)
  return { url, ...rest }
}

const ofBursar = ({ service, world }: OpenedStore): Server => ({
  url: service.url,
  tokens: world.tokens,
  gets: world.gets(0),
  lists: world.pages(100),
})

function startPrism(): Promise<Server> {
  const path = '/v2/transfer/fiat-accounts'
  return start((port) => [program('prism'), 'mock', 'openapi.json', '-p', port], {
    tokens: ['any'],
    gets: owned.map((at) => ({ path: `${path}/${account(at).id}` })),
    // It answers one example, whatever the limit.
    lists: [{ path: `${path}?limit=100` }],
  })
}

function startJsonServer(): Promise<Server> {
  const database = join(embedded.world.folder, 'database.json')
  const accounts = Array.from({ length: RECORDS }, (_, at) => account(at))
  writeFileSync(database, JSON.stringify({ 'fiat-accounts': accounts }))
  const pages = Array.from({ length: RECORDS / 100 }, (_, at) => at + 1)
  return start((port) => [program('json-server'), database, '-p', port], {
    gets: owned.map((at) => ({ path: `/fiat-accounts/${account(at).id}` })),
    lists: pages.map((page) => ({ path: `/fiat-accounts?_page=${page}&_limit=100` })),
  })
}

function startPostGraphile(): Promise<Server> {
  const preset = ['--preset', 'postgraphile/presets/amber', '--schema', 'bursar']
  const query = (text: string, variables: object): LoadRequest => ({
    path: '/graphql',
    body: JSON.stringify({ query: text, variables }),
  })
  const get = `query ($id: UUID!) { allFiatAccounts(condition: { rowId: $id }) { nodes { body } } }`
  const list = `query ($of: String!) {
    allFiatAccounts(condition: { customerId: $of }, first: 100) { nodes { body } }
  }`.replaceAll(/\s+/g, ' ')
  return start(
    (port) => [program('postgraphile'), ...preset, '-c', postgres.superuser, '-p', port],
    {
      headers: { 'content-type': 'application/json' },
      gets: owned.map((at) => query(get, { id: account(at).id })),
      lists: [query(list, { of: BIG })],
    },
  )
}

const rate = async (server: Server, requests: readonly LoadRequest[]) => {
  const { url, tokens = [], headers = {} } = server
  return (await runWrk({ url, tokens, headers, requests, seconds: SECONDS })).rate
}
const others = {
  Prism: await startPrism(),
  'json-server': await startJsonServer(),
  PostGraphile: await startPostGraphile(),
}
for (const [store, ours] of Object.entries({ embedded, PostgreSQL: postgres })) {
  const bursar = ofBursar(ours)
  for (const [name, other] of Object.entries(others)) {
    for (const what of ['gets', 'lists'] as const) {
      const measure = async () => ({
        theirs: await rate(other, other[what]),
        ours: await rate(bursar, bursar[what]),
      })
      const row = { name: `${what}, ${store}`, reference: `/s ${name}`, goal: 1, unit: '/s' }
      await report({ ...row, measure }, ROUNDS)
    }
  }
}
writeResults('alternatives', { records: RECORDS, rounds: ROUNDS, seconds: SECONDS })
await embedded.stop()
await postgres.stop()
process.exit()
