import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as passing } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { getOrInsert } from '@bursar/base'
import { operatorScopes } from '@bursar/contract'
import { fetchToken } from '../test/support/harness.ts'
import { measureAndExit, openStore } from './measured-store.ts'
import { median, say } from './report.ts'
import type { WaitingReaders } from './waiting-readers.ts'
import { account, BIG, idOf, makeClient } from './world.ts'

/**
 * The feed of events: how long an event takes from its commit to readers that wait, what readers
 * that wait cost, and what a page costs at the beginning and the end of a long feed. Also what one
 * costs whose filter matches nothing:
 *
 *     node bench/feed.ts --store embedded|postgres [--readers 10000] [--records 1000000]
 */
const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'embedded' },
    readers: { type: 'string', default: '10000' },
    records: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '20' },
    'puts-a-second': { type: 'string', default: '500' },
  },
})
const READERS = Number(values.readers)
const SECONDS = Number(values.seconds)
const PUTS = Number(values['puts-a-second'])
/** Each client may have 100 requests that wait. */
const PER_CUSTOMER = 100
/** Those that wait while records of others are written, and those whose records are written. */
const FOLLOWED = 10
const FIRST_WRITTEN = 10_000_000

const store = await openStore(values.store, Number(values.records))
const { config, service } = store
const { url } = service
/** When the PUTs of a record were answered whose events nobody has seen yet, in their order. */
const written = new Map<string, number[]>()
let puts = 0
await measureAndExit(store, measure)

async function measure(): Promise<void> {
  await measureDepth()
  await measureFilters()
  const operator = await fetchToken(
    url,
    await makeClient(config, { customerId: null, scopes: operatorScopes }),
  )
  await measureChanges(operator)
  const followers = await followSome()
  await write(operator, 2)
  followers.latencies.length = 0
  await write(operator, SECONDS)
  say(`${PUTS} PUT/s, ${FOLLOWED} followers: commit to event ${spread(followers.latencies)}`)
  const before = usage()
  const waiting = await startWaiting()
  await passing(5000)
  const idle = usage()
  say(
    `${waiting} more readers wait: ${((idle.kilobytes - before.kilobytes) / waiting).toFixed(1)} KB each`,
  )
  await passing(10_000)
  const later = usage()
  say(
    `while nothing happens: ${(((later.cpuMs - idle.cpuMs) / 10_000) * 100).toFixed(1)} % of a core`,
  )
  followers.latencies.length = 0
  await write(operator, SECONDS)
  say(`${PUTS} PUT/s beside them: commit to event ${spread(followers.latencies)}`)
}

type Page = {
  readonly items: readonly { readonly object: { readonly id: string } }[]
  readonly next_page_cursor?: string
  readonly resume_cursor: string
}

async function read(token: string, query: string): Promise<Page> {
  return await get(`/v2/events?${query}`, token)
}

async function get(path: string, token: string): Promise<Page> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}${path}`, { headers })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${answer.status}: ${text}`)
  return JSON.parse(text)
}

async function tokenOf(customerId: string): Promise<string> {
  const scopes = ['events:read_event', 'transfer:read_fiat_account'] as const
  return await fetchToken(url, await makeClient(config, { customerId, scopes }))
}

/** Pages of 100 from the first event of the largest customer to its last one. */
async function measureDepth(): Promise<void> {
  await walk('/v2/events?limit=100', await tokenOf(BIG))
}

/** Pages of 1,000 of the changes of all customers. The first one adds what is due to the log. */
async function measureChanges(operator: string): Promise<void> {
  await walk('/ingest/v1/changes?limit=1000', operator)
}

/** Reads a feed from its beginning to its end. */
async function walk(path: string, token: string): Promise<void> {
  const times: number[] = []
  let cursor: string | undefined = ''
  while (cursor !== undefined) {
    const begunAt = performance.now()
    const page: Page = await get(`${path}&page_cursor=${encodeURIComponent(cursor)}`, token)
    times.push(performance.now() - begunAt)
    cursor = page.next_page_cursor
  }
  const tenth = Math.ceil(times.length / 10)
  const parts = [times.slice(0, tenth), times.slice(-tenth)].map(median)
  say(
    `${times.length} pages of ${path}: median ${parts[0]?.toFixed(2)} ms in the first tenth, ${parts[1]?.toFixed(2)} ms in the last`,
  )
}

/** First pages of the largest customer, with filters that match none of its events. */
async function measureFilters(): Promise<void> {
  const token = await tokenOf(BIG)
  for (const query of ['type=fiat_account.deleted', 'created_at.lt=2000-01-01T00:00:00Z']) {
    const begun = usage()
    for (let page = 0; page < 50; page += 1) await read(token, query)
    const cpuMs = (usage().cpuMs - begun.cpuMs) / 50
    say(`a page of ${query}, which matches nothing: ${cpuMs.toFixed(1)} ms of processor time`)
  }
}

async function write(operator: string, seconds: number): Promise<void> {
  const begunAt = performance.now()
  const pending: Promise<void>[] = []
  for (let sent = 0; sent < seconds * PUTS; sent += 1) {
    const dueMs = begunAt + (sent * 1000) / PUTS - performance.now()
    if (dueMs > 1) await passing(dueMs)
    pending.push(put(operator, sent))
  }
  await Promise.all(pending)
  await passing(1000)
}

async function put(operator: string, sent: number): Promise<void> {
  puts += 1
  const id = idOf(FIRST_WRITTEN + (sent % 1000))
  const customer = `followed-${sent % FOLLOWED}`
  const record = {
    ...account(FIRST_WRITTEN + (sent % 1000), customer),
    metadata: { put: String(puts) },
  }
  const answer = await fetch(`${url}/ingest/v1/fiat-accounts/${id}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${operator}` },
    body: JSON.stringify({ ...record, id: undefined }),
  })
  const text = await answer.text()
  if (answer.status >= 300) throw new Error(text)
  getOrInsert(written, id, (): number[] => []).push(performance.now())
}

/** Follows the customers whose records are written. */
async function followSome() {
  const latencies: number[] = []
  for (let at = 0; at < FOLLOWED; at += 1) {
    const token = await tokenOf(`followed-${at}`)
    void followOne(token, latencies)
  }
  await passing(500)
  return { latencies }
}

async function followOne(token: string, latencies: number[]): Promise<void> {
  let cursor = encodeURIComponent((await read(token, 'order=DESC&limit=1')).resume_cursor)
  for (;;) {
    const page = await read(token, `wait=30&page_cursor=${cursor}`).catch(() => undefined)
    if (page === undefined) return
    const seenAt = performance.now()
    for (const { object } of page.items) {
      // An event may be seen before the answer of its PUT.
      latencies.push(Math.max(0, seenAt - (written.get(object.id)?.shift() ?? seenAt)))
    }
    cursor = encodeURIComponent(page.resume_cursor)
  }
}

/** Readers of customers to whom nothing happens. */
async function startWaiting(): Promise<number> {
  const tokens: string[] = []
  for (let at = 0; at * PER_CUSTOMER < READERS; at += 1) tokens.push(await tokenOf(`waiting-${at}`))
  const workerData: WaitingReaders = { url, tokens, perToken: PER_CUSTOMER }
  const worker = new Worker(new URL('waiting-readers.ts', import.meta.url), { workerData })
  const [started] = await once(worker, 'message')
  return started
}

/** Memory and processor time of the server. */
function usage() {
  const { pid } = service
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return {
    kilobytes: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]),
    cpuMs: 10 * (Number(fields[11]) + Number(fields[12])),
  }
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (part: number) => sorted[Math.floor(sorted.length * part)]?.toFixed(0)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${sorted.at(-1)?.toFixed(0)} ms of ${sorted.length}`
}
