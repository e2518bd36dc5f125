import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { operatorScopes } from '@bursar/contract'
import { cores } from '../test/support/cores.ts'
import { fetchToken } from '../test/support/harness.ts'
import { type FixedLoad, type FixedLoadResult, runAtFixedRate } from './fixed-rate.ts'
import { measureAndExit, openStore } from './measured-store.ts'
import { say } from './report.ts'
import { account, BIG, CUSTOMERS, idOf, makeClient } from './world.ts'
import type { LoadRequest } from './wrk.ts'

/**
 * Single records of 50 customers and lists, alone and beside streams of another customer:
 *
 *     node bench/writers.ts --store embedded|postgres [--lines 1000000] [--puts 100000]
 *
 * curl sends the streams, one after the other, until all PUTs are sent. The generators keep fixed
 * rates on the core of the load, so a pause of the server counts for every request that was due.
 */
const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'embedded' },
    /** Records of a stream. By default one large stream on PostgreSQL, and small ones elsewhere. */
    lines: { type: 'string' },
    puts: { type: 'string', default: '100000' },
    'puts-a-second': { type: 'string', default: '500' },
    'lists-a-second': { type: 'string', default: '500' },
    /** Whether the streams change records that a first stream has stored. */
    changed: { type: 'boolean', default: false },
  },
})
const isPostgres = values.store === 'postgres'
const LINES = Number(values.lines ?? (isPostgres ? 1_000_000 : 10_000))
const PUTS = Number(values.puts)
const SECONDS = PUTS / Number(values['puts-a-second'])
const RECORDS = 200_000
/** The records that writers change. One comes again after so many requests. */
const WRITTEN = 4000
const FIRST_WRITTEN = 10_000_000
const FIRST_STREAMED = 20_000_000

const store = await openStore(values.store, RECORDS)
const { config, service, world } = store
const { url } = service
const streamFile = join(world.folder, 'stream.ndjson')
let round = 0
await measureAndExit(store, measure)

async function measure(): Promise<void> {
  const client = await makeClient(config, { customerId: null, scopes: operatorScopes })
  const operator = await fetchToken(url, client)
  if (values.changed) {
    await writeLines(0)
    await sendLines(operator)
  }
  const alone = await run(operator)
  say(`alone: ${linesOf(alone)}`)
  await writeLines(1)
  const stopped = new AbortController()
  const streaming = streamUntil(operator, stopped.signal)
  const beside = await run(operator).finally(() => stopped.abort())
  say(`beside streams of ${LINES} records: ${linesOf(beside)}`)
  for (const line of await streaming) say(`  ${line}`)
}

type Run = Readonly<Record<'puts' | 'lists' | 'health', FixedLoadResult>>

/** 16 writers, 32 readers, and a health check every 10 ms. */
async function run(operator: string): Promise<Run> {
  const load = { url, seconds: SECONDS, mayFail: true } as const
  const json = { 'content-type': 'application/json' }
  const loads: Record<keyof Run, FixedLoad> = {
    puts: {
      ...load,
      tokens: [operator],
      headers: json,
      requests: puts(),
      rate: Number(values['puts-a-second']),
      connections: 16,
    },
    lists: {
      ...load,
      tokens: world.tokens,
      requests: world.pages(100),
      rate: Number(values['lists-a-second']),
      connections: 32,
    },
    health: { ...load, tokens: [], requests: [{ path: '/healthz' }], rate: 100, connections: 1 },
  }
  const [ofPuts, ofLists, ofHealth] = await Promise.all([
    runAtFixedRate(loads.puts),
    runAtFixedRate(loads.lists),
    runAtFixedRate(loads.health),
  ])
  return { puts: ofPuts, lists: ofLists, health: ofHealth }
}

function linesOf(found: Run): string {
  return Object.entries(found)
    .map(([name, { requests, failed, failedStatus, p50, p99, most }]) => {
      const refused = failed === 0 ? '0 refused' : `${failed} refused (${failedStatus})`
      const figures = [p50, p99, most].map((ms) => ms.toFixed(1)).join(' / ')
      return `\n  ${requests} ${name}, ${refused}, p50 / p99 / most ${figures} ms`
    })
    .join('')
}

function puts(): readonly LoadRequest[] {
  const requests: LoadRequest[] = []
  for (let at = 0; at < 5 * WRITTEN; at += 1) {
    const index = FIRST_WRITTEN + (at % WRITTEN)
    if (at % WRITTEN === 0) round += 1
    const record = {
      ...account(index, `customer-${index % CUSTOMERS}`),
      metadata: { label: `change ${round}` },
    }
    const path = `/ingest/v1/fiat-accounts/${idOf(index)}`
    requests.push({ path, method: 'PUT', body: JSON.stringify(record) })
  }
  return requests
}

/** Streams, one after the other, until the signal. The first one is written. */
async function streamUntil(operator: string, signal: AbortSignal): Promise<readonly string[]> {
  const done = [await sendLines(operator)]
  for (let at = 2; !signal.aborted; at += 1) {
    await writeLines(at)
    done.push(await sendLines(operator))
  }
  return done.length <= 5 ? done : [...done.slice(0, 3), `… ${done.length} streams`]
}

async function writeLines(at: number): Promise<void> {
  await pipeline(Readable.from(streamed(at)), createWriteStream(streamFile))
}

async function sendLines(operator: string): Promise<string> {
  const startedAt = performance.now()
  const headers = [`Authorization: Bearer ${operator}`, 'Content-Type: application/x-ndjson']
  const words = ['-sS', '-X', 'POST', '-T', streamFile, ...headers.flatMap((one) => ['-H', one])]
  const target = `${url}/ingest/v1/fiat-accounts`
  const sending = spawn('taskset', ['-c', cores.load, 'curl', ...words, target], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const answer = (await sending.stdout.toArray()).join('')
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${answer}`
}

function* streamed(at: number): Iterable<string> {
  const first = FIRST_STREAMED + (values.changed ? 0 : at * LINES)
  let lines = ''
  for (let index = first; index < first + LINES; index += 1) {
    lines += `${JSON.stringify({ ...account(index, BIG), metadata: { label: `stream ${at}` } })}\n`
    if (lines.length < 1 << 20) continue
    yield lines
    lines = ''
  }
  yield lines
}
