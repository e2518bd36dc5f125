import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as passing } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { callUrl, temporaryFolder } from '../test/support/harness.ts'
import { durableSettings, startPostgres } from '../test/support/postgres-server.ts'
import { prepareServer } from '../test/support/test-database.ts'
import { bytesIn } from './embedded.ts'
import { runAtFixedRate } from './fixed-rate.ts'
import { openSide, type Side } from './pairs/side.ts'
import { type Measured, reportMeasured, say } from './report.ts'
import { addressLines } from './rows/imports.ts'
import { memoryOf } from './rows/memory.ts'
import { quoteBody, tokenLoad } from './rows/writes.ts'
import { account, BIG, CUSTOMERS, customerOf, idOf } from './world.ts'
import { type Load, type LoadRequest, runWrk } from './wrk.ts'

/**
 * This program beside another built one. Each has its own store
 * and server, and they take turns in each row:
 *
 *     node bench/pairs.ts --before FOLDER [--store embedded|postgres] [--rows PATTERN]
 *       [--records 20000] [--seconds 2] [--rounds 6]
 *
 * FOLDER is a checkout of the project after `node tools/build-package.ts`. A rate above 1 and a
 * cost below 1 speak for this program. A rate varies with what else the machine does, and the
 * processor time of a request less. What differs by more than 5 % to the worse is marked.
 */
const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    store: { type: 'string', default: 'embedded' },
    rows: { type: 'string', default: '' },
    records: { type: 'string', default: '20000' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '6' },
  },
})
if (values.before === undefined) throw new Error('give --before FOLDER')
const RECORDS = Number(values.records)
const SECONDS = Number(values.seconds)
const ROUNDS = Number(values.rounds)

/** What a start checks has ended by then. */
const IDLE_AFTER_MS = 3000

/** Figures by their units. */
type Figures = Readonly<Record<string, number>>
type PairRow = {
  readonly name: string
  /** A memory or a size hardly varies. */
  readonly once?: true
  measure(side: Side, round: number): Promise<Figures> | Figures
}

const folder = temporaryFolder()
const files = {
  accounts: join(folder, 'accounts.ndjson'),
  changed: join(folder, 'changed.ndjson'),
  addresses: join(folder, 'addresses.ndjson'),
}
const accountLines = (change: Readonly<Record<string, unknown>>) =>
  Array.from({ length: RECORDS }, (_, at) => `${JSON.stringify({ ...account(at), ...change })}\n`)
writeFileSync(files.accounts, accountLines({}).join(''))
writeFileSync(files.changed, accountLines({ metadata: { label: 'changed' } }).join(''))
writeFileSync(files.addresses, addressLines(RECORDS))

const postgres =
  values.store === 'postgres'
    ? await startPostgres({
        version: 'debian',
        settings: [...durableSettings, 'shared_buffers = 1GB'],
      })
    : undefined
if (postgres !== undefined) await prepareServer(postgres)
const customers = [BIG, ...Array.from({ length: CUSTOMERS }, (_, at) => `customer-${at}`)]
const WRITER = customers.length
const here = resolve(import.meta.dirname, '..')
const open = (name: string, program: string) =>
  openSide(
    { name, folder: program },
    { folder, postgres },
    { customers, files: [['fiat-accounts', files.accounts]] },
  )
const ours = await open('now', here)
const theirs = await open('before', values.before)

const ACCOUNTS = '/v2/transfer/fiat-accounts'
const INGEST = '/ingest/v1/fiat-accounts'
const json = { 'content-type': 'application/json' }
const all = Array.from({ length: RECORDS }, (_, at) => at)
const big = all.filter((at) => customerOf(at) === BIG)
const getOf = (at: number): LoadRequest => ({
  path: `${ACCOUNTS}/${idOf(at)}`,
  token: customers.indexOf(customerOf(at)),
})
/** Each round begins with others. */
const turned = <T>(list: readonly T[], round: number): readonly T[] => {
  const start = Math.floor((round * list.length) / 7) % list.length
  return [...list.slice(start), ...list.slice(0, start)]
}
/** Before a random record each, so that no page is answered from memory. */
const pagesOf = (path: string, token = 0): readonly LoadRequest[] =>
  big
    .filter((at) => at > RECORDS / 4)
    .map((at) => ({
      path: `${path}&created_at.lt=${encodeURIComponent(String(account(at).created_at))}`,
      token,
    }))
const pages = (limit: number) => pagesOf(`${ACCOUNTS}?limit=${limit}`)
const putOf = (at: number, label: string): LoadRequest => ({
  path: `${INGEST}/${idOf(at)}`,
  method: 'PUT',
  body: JSON.stringify({ ...account(at), metadata: { label } }),
  token: WRITER,
})

type LoadedOptions = Partial<Pick<Load, 'headers' | 'connections' | 'tokens'>> & {
  readonly latency?: true
}

/** A row of requests at the peak of the rate. */
const loaded = (
  name: string,
  requestsOf: (side: Side, round: number) => readonly LoadRequest[],
  { latency, ...options }: LoadedOptions = {},
): PairRow => ({
  name,
  measure: async (side, round) => {
    const requests = requestsOf(side, round)
    const before = side.processorSeconds()
    const found = await runWrk({
      url: side.service.url,
      tokens: [...side.tokens, side.writer],
      requests,
      seconds: SECONDS,
      ...options,
    })
    const used = (side.processorSeconds() - before) / SECONDS
    return {
      '/s': found.rate,
      'µs of the processor': (used * 1e6) / found.rate,
      ...(latency && { 'ms p99': found.p99 }),
    }
  },
})
/** Files that are imported one after the other, the last of them measured. */
const imported = (name: string, kind: string, ...list: readonly string[]): PairRow => ({
  name,
  measure: async (side) => {
    const store = await side.newStore()
    const [used] = list.map((file) => side.run(['import', kind, file], store)).slice(-1)
    if (used === undefined) throw new Error('no import ran')
    return {
      '/s': RECORDS / used.seconds,
      's of the processor': used.processorSeconds,
      MB: used.megabytes,
      ...(postgres === undefined && {
        'MB of the store': bytesIn(dirname(store.DATABASE_URL.replace('sqlite:', ''))) / 1e6,
      }),
    }
  },
})
const from = new Date().toISOString()
const past = `/ingest/v1/customers/${BIG}/fiat-accounts?limit=100&as_of=${from}`
const lists = (side: Side) => ({
  url: side.service.url,
  tokens: side.tokens,
  requests: pages(100),
  seconds: 2 * SECONDS,
})

const rows: readonly PairRow[] = [
  loaded('get, cold', (_, round) => turned(big.map(getOf), round)),
  loaded('get, cold, 50 customers', (_, round) =>
    turned(all.filter((at) => customerOf(at) !== BIG).map(getOf), round),
  ),
  loaded('list of 100, cold', () => pages(100), { latency: true }),
  loaded('list of 100, hot', () => [{ path: `${ACCOUNTS}?limit=100` }]),
  {
    ...loaded('list of 100, matching If-None-Match', () => []),
    measure: async (side, round) => {
      const path = `${ACCOUNTS}?limit=100`
      const token = side.tokens[0] ?? ''
      const { headers: answered } = await callUrl(side.service.url + path, { token })
      const etag = answered.get('etag') ?? ''
      const headers = { 'if-none-match': etag }
      return await loaded('', () => [{ path }], { headers }).measure(side, round)
    },
  },
  loaded('list of 1,000, cold', () => pages(1000), { latency: true, connections: 8 }),
  loaded('events', () => [{ path: '/v2/events?limit=50' }]),
  loaded('past page', () => pagesOf(past, WRITER)),
  loaded('history', () =>
    big.slice(0, 4000).map((at) => ({ path: `${INGEST}/${idOf(at)}/history`, token: WRITER })),
  ),
  loaded(
    'fee quote',
    (_, round) =>
      Array.from({ length: 3000 }, (_, at) => ({
        path: '/v2/transfer/fees/crypto-withdrawal',
        body: quoteBody(3000 * round + at),
        token: at % customers.length,
      })),
    { headers: json, connections: 64 },
  ),
  {
    name: 'token',
    measure: async (side, round) => {
      const { requests, ...options } = tokenLoad({ customerId: '', ...side.client })
      return await loaded('', () => requests, options).measure(side, round)
    },
  },
  loaded(
    'PUT, new',
    (_, round) =>
      Array.from({ length: 20_000 }, (_, at) => putOf(1_000_000 + 20_000 * round + at, 'new')),
    { headers: json, connections: 64 },
  ),
  loaded(
    'PUT, changed',
    (_, round) =>
      Array.from({ length: 20_000 }, (_, at) =>
        putOf(at % 4000, `${round} ${Math.floor(at / 4000)}`),
      ),
    { headers: json, connections: 64, latency: true },
  ),
  loaded(
    'PUT, one in flight',
    (_, round) => [...Array(4000).keys()].map((at) => putOf(at, `one ${round}`)),
    {
      headers: json,
      connections: 1,
      latency: true,
    },
  ),
  loaded('PUT, unchanged', () => big.slice(0, 4000).map((at) => putOf(at, 'the same')), {
    headers: json,
    connections: 64,
  }),
  {
    name: 'lists at 1,000/s beside 1,000 tokens/s',
    measure: async (side) => {
      const load = tokenLoad({ customerId: '', ...side.client })
      const [{ p50, p99 }] = await Promise.all([
        runAtFixedRate({ ...lists(side), rate: 1000 }),
        runAtFixedRate({ ...load, url: side.service.url, rate: 1000, seconds: 2 * SECONDS }),
      ])
      return { 'ms p50': p50, 'ms p99': p99 }
    },
  },
  {
    name: 'memory under load',
    once: true,
    measure: (side) => ({ MB: memoryOf(side.service.pid, 'VmHWM') }),
  },
  imported('import of addresses', 'deposit-addresses', files.addresses),
  imported('import of accounts', 'fiat-accounts', files.accounts),
  imported('import of accounts again', 'fiat-accounts', files.accounts, files.accounts),
  imported('import of changed accounts', 'fiat-accounts', files.accounts, files.changed),
  {
    name: 'start to ready',
    measure: async (side) => {
      await side.service.stop()
      const startedAt = performance.now()
      const service = await side.start()
      const { status } = await fetch(`${service.url}/readyz`)
      const ms = performance.now() - startedAt
      await passing(IDLE_AFTER_MS)
      const MB = memoryOf(service.pid, 'VmRSS')
      await service.stop()
      if (status !== 200) throw new Error(`/readyz answers ${status}`)
      return { ms, MB }
    },
  },
]

/** Measures both sides in turn. Each is first in every second round. */
async function compare({ name, once, measure }: PairRow): Promise<void> {
  const found: { readonly ours: Figures; readonly theirs: Figures }[] = []
  for (let round = 0; round < (once ? 1 : ROUNDS); round += 1) {
    const sides = round % 2 === 0 ? [ours, theirs] : [theirs, ours]
    const figures = new Map<Side, Figures>()
    for (const side of sides) figures.set(side, await measure(side, round))
    found.push({ ours: figures.get(ours) ?? {}, theirs: figures.get(theirs) ?? {} })
  }
  for (const unit of Object.keys(found[0]?.ours ?? {})) {
    const measured: Measured[] = found.map((each) => ({
      ours: each.ours[unit] ?? Number.NaN,
      theirs: each.theirs[unit] ?? Number.NaN,
    }))
    const isRate = unit === '/s'
    const bound = isRate ? { goal: 0.95 } : { goal: 1.05, atMost: true as const }
    reportMeasured({ name, reference: `${unit} ${theirs.name}`, unit, ...bound }, measured)
  }
}

try {
  say(`${values.store}, ${RECORDS} records, ${ROUNDS} rounds of ${SECONDS} s`)
  const selected = rows.filter(({ name }) => new RegExp(values.rows).test(name))
  for (const row of selected) {
    // Rates rise for some seconds, until V8 has compiled what is used most.
    if (/get|list|PUT/.test(row.name))
      for (const side of [ours, theirs]) await row.measure(side, ROUNDS)
    await compare(row)
  }
} finally {
  await ours.service.stop()
  await theirs.service.stop()
  await postgres?.stop()
  rmSync(folder, { recursive: true })
}
process.exit()
