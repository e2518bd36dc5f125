import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { eventNumbers } from '@bursar/records'
import { configOf, fetchToken, temporaryFolder } from '../test/support/harness.ts'
import { startProcess } from '../test/support/server-process.ts'
import { serverEnv } from './embedded.ts'
import { median, say } from './report.ts'
import { accounts, BIG, fill, makeClient } from './world.ts'

/**
 * What a page costs along a very long feed of events, on the embedded store. The versions of one
 * customer are written to the tables, because to import ten million takes hours:
 *
 *     node bench/long-feed.ts [--versions 10000000] [--limit 100]
 */
const { values } = parseArgs({
  options: {
    versions: { type: 'string', default: '10000000' },
    limit: { type: 'string', default: '100' },
  },
})
const VERSIONS = Number(values.versions)

const folder = temporaryFolder()
const file = join(folder, 'bench.db')
const config = configOf({ DATABASE_URL: `sqlite:${file}` })
await fill(config, accounts(1000))
addVersions()
const env = { DATABASE_URL: config.databaseUrl, ...serverEnv }
const service = await startProcess(['dist/main.js', 'serve'], { env })
try {
  await walk()
} finally {
  await service.stop()
  rmSync(folder, { recursive: true })
}

type Page = { readonly items: readonly unknown[]; readonly next_page_cursor?: string }

function addVersions(): void {
  using db = new DatabaseSync(file)
  const find = db.prepare('select number, changes from customer where id = ?').get(BIG)
  const { number = 0, changes = 0 } = find ?? {}
  const record = db.prepare('select id from history union all select ? limit 1')
  const id = record.get('aaaaaaaa-0000-4000-8000-000000000001')?.id ?? ''
  db.exec('pragma synchronous = off; begin')
  db.prepare(`
    with recursive version (at) as (select 1 union all select at + 1 from version where at < ?)
    insert into history
      (kind, customer, id, stored_at, replaced_at, change, event, body, checksum)
    select 'fiat-accounts', ?, ?, 1700000000000000 + at, 1700000000000001 + at, ? + at,
      ${eventNumbers.updated}, '{}', at
    from version`).run(VERSIONS, number, id, changes)
  db.prepare('update customer set changes = changes + ? where number = ?').run(VERSIONS, number)
  db.exec('commit')
}

/** Reads the feed from its beginning to its end. */
async function walk(): Promise<void> {
  const scopes = ['events:read_event', 'transfer:read_fiat_account']
  const client = await makeClient(config, { customerId: BIG, scopes })
  const headers = { authorization: `Bearer ${await fetchToken(service.url, client)}` }
  const times: number[] = []
  const used: number[] = []
  let events = 0
  let cursor = ''
  for (let isLast = false; !isLast; ) {
    const begunAt = performance.now()
    const url = `${service.url}/v2/events?limit=${values.limit}${cursor}`
    const answer = await fetch(url, { headers })
    const page = (await answer.json()) as Page
    if (answer.status !== 200) throw new Error(JSON.stringify(page))
    times.push(performance.now() - begunAt)
    used.push(cpuMs())
    events += page.items.length
    isLast = page.next_page_cursor === undefined
    cursor = `&page_cursor=${encodeURIComponent(page.next_page_cursor ?? '')}`
  }
  say(`${events} events in ${times.length} pages`)
  const tenth = Math.ceil(times.length / 10)
  for (let from = 0; from < times.length; from += tenth) {
    const part = times.slice(from, from + tenth)
    const last = from + part.length - 1
    const cpu = ((used[last] ?? 0) - (used[from] ?? 0)) / Math.max(1, part.length - 1)
    say(
      `from page ${from}: median ${median(part).toFixed(2)} ms, ${cpu.toFixed(2)} ms of a processor`,
    )
  }
}

/** Processor time of the server. */
function cpuMs(): number {
  const fields = readFileSync(`/proc/${service.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return 10 * (Number(fields[11]) + Number(fields[12]))
}
