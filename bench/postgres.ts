import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { asTenant } from '../src/contract/principal.ts'
import { fiatAccount } from '../src/resources/fiat-account.ts'
import { hexOf } from '../src/store/postgres/driver/cells.ts'
import { readingSessions } from '../src/store/postgres/driver/sessions.ts'
import { pageQuery } from '../src/store/postgres/records/page-query.ts'
import { callUrl, configOf, fetchToken, temporaryFolder } from '../test/support/harness.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { firstPage } from '../test/support/selection.ts'
import { prepareServer } from '../test/support/test-database.ts'
import { besideBare, CONNECTIONS, median, say } from './beside-bare.ts'
import { compareImportWithCopy } from './copy-beside-import.ts'
import { cores, pinToCores } from './cores.ts'
import { startProcess } from './process.ts'
import { accounts, CUSTOMERS, fill, idOf, makeClient } from './world.ts'
import { openWrk } from './wrk.ts'

/**
 * Compares reads from PostgreSQL with bare node:http, a list of 100 with its statement in pgbench,
 * late pages with early ones, and an import with COPY. It runs Debian's PostgreSQL, which operators
 * use; BURSAR_TEST_POSTGRES=newest runs the npm package's build.
 */
const RECORDS = Number(process.env.RECORDS ?? 200_000)
const SECONDS = Number(process.env.SECONDS ?? 5)

const folder = temporaryFolder()
const wrk = openWrk({ folder, seconds: SECONDS, connections: CONNECTIONS })
const server = await startPostgres({
  version: process.env.BURSAR_TEST_POSTGRES === 'newest' ? 'newest' : 'debian',
  settings: [
    'fsync = on',
    'full_page_writes = on',
    'synchronous_commit = on',
    'shared_buffers = 1GB',
    'max_wal_size = 8GB',
  ],
})
await prepareServer(server)
const database = 'bursar_template'
const env = {
  DATABASE_URL: server.url('bursar', database),
  OPERATOR_DATABASE_URL: server.url('bursar_operator', database),
  BURSAR_MASTER_KEY: randomBytes(32).toString('base64'),
}
const config = configOf(env)
const [cpu] = cpus()
say(`Node ${process.version}, ${cpus().length} × ${cpu?.model}, ${RECORDS} records, ${versionOf()}`)

if (process.env.LOADS !== 'no') await compareImportWithCopy(server, config, RECORDS)
await fill(config, accounts(RECORDS))
psql('vacuum analyze')
const client = await makeClient(config)
const service = await startProcess(['src/main.ts', 'serve'], {
  ...env,
  PORT: '0',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
})
const served = { url: service.url, token: await fetchToken(service.url, client), folder }
const gets = Array.from(
  { length: 1000 },
  (_, at) => `/v2/transfer/fiat-accounts/${idOf(at * CUSTOMERS)}`,
)
await getsBesideBare('all processes share the cores', cores.all)
// PostgreSQL's processes preempt the service on a shared core; nothing preempts the bare server.
pinToCores(cores.own, service.pid)
pinToCores(cores.others, server.process.pid ?? 0)
await getsBesideBare('service on its own core', cores.own)
pinToCores(cores.all, service.pid)
pinToCores(cores.all, server.process.pid ?? 0)
await listBesidePgbench(100)
await besideBare(served, 'list of 100', ['/v2/transfer/fiat-accounts?limit=100'], { load: wrk })
await besideBare(served, 'list of 1000', ['/v2/transfer/fiat-accounts?limit=1000'], { load: wrk })
await compareLatePages()
await service.stop()
await server.stop()
rmSync(folder, { recursive: true })

/** Concurrent gets share statements, so more connections cost less per get. */
async function getsBesideBare(name: string, on: string): Promise<void> {
  for (const connections of [CONNECTIONS, 4 * CONNECTIONS]) {
    const load = openWrk({
      folder,
      seconds: SECONDS,
      connections,
      on: on === cores.all ? on : cores.others,
    })
    await besideBare(served, `get, ${connections} connections, ${name}`, gets, { load, cores: on })
  }
}

/** Reads ten thousand pages in sequence: late pages must be as fast as early ones. */
async function compareLatePages(): Promise<void> {
  const pages = 10_000
  const deep = 'customer-deep'
  await fill(config, accounts(pages + 1, { firstAt: RECORDS, customerId: deep }))
  const token = await fetchToken(service.url, await makeClient(config, { customerId: deep }))
  const took: number[] = []
  let cursor = ''
  for (let page = 0; page < pages; page += 1) {
    const path = `/v2/transfer/fiat-accounts?limit=1&page_cursor=${cursor}`
    const startedAt = performance.now()
    const answer = await callUrl(`${service.url}${path}`, { token })
    took.push(performance.now() - startedAt)
    cursor = answer.body.next_page_cursor
  }
  const p99 = (part: number[]) =>
    part.toSorted((a, b) => a - b)[Math.floor(part.length * 0.99)] ?? 0
  const [first, last] = [p99(took.slice(0, 1000)), p99(took.slice(-1000))]
  say(
    `${pages} pages in sequence: p99 ${first.toFixed(2)} ms for the first thousand, ${last.toFixed(2)} ms for the last`,
  )
}

async function listBesidePgbench(limit: number): Promise<void> {
  const rates = { pgbench: [] as number[], service: [] as number[] }
  for (let round = 0; round < 3; round += 1) {
    rates.pgbench.push(pgbench(limit))
    rates.service.push(wrk(served.url, served.token, [`/v2/transfer/fiat-accounts?limit=${limit}`]))
  }
  const [ceiling, rate] = [median(rates.pgbench), median(rates.service)]
  say(
    `list of ${limit}: ${Math.round(rate)} requests/s over HTTP, the same statement in pgbench ${Math.round(ceiling)}/s, ratio ${(rate / ceiling).toFixed(2)}`,
  )
}

/** Runs the service's statement, prepared, in sixteen sessions of the customer role. */
function pgbench(limit: number): number {
  const { text, values = [] } = pageQuery(fiatAccount.resource, {
    tenant: asTenant('customer-0'),
    selection: { ...firstPage, limit },
  })
  const literals = values.map((value) =>
    value instanceof Uint8Array
      ? `'${hexOf(value)}'::bytea`
      : typeof value === 'string'
        ? `'${value}'::text`
        : `${value}::bigint`,
  )
  const script = join(folder, 'list.sql')
  const settings = Object.entries(readingSessions(5000)).map(
    ([name, value]) => `-c ${name}=${value}`,
  )
  writeFileSync(
    script,
    `${text.replaceAll(/\$(\d)/g, (_, at) => literals[Number(at) - 1] ?? '').replaceAll(/\s+/g, ' ')};\n`,
  )
  const words = ['-n', '-M', 'prepared', '-c', '16', '-j', '2', '-T', String(SECONDS), '-f', script]
  const output = execFileSync(tool('pgbench'), [...words, server.url('bursar', database)], {
    env: { ...process.env, PGOPTIONS: settings.join(' ') },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return Number(/tps = ([\d.]+)/.exec(output)?.[1])
}

function psql(text: string): string {
  const words = ['-X', '-A', '-t', '-c', text, server.url('postgres', database)]
  return execFileSync(tool('psql'), words, { encoding: 'utf8' }).trim()
}

function versionOf(): string {
  return psql('select version()').split(' ').slice(0, 2).join(' ')
}

/** Debian installs the clients in a folder named after the version. */
function tool(name: string): string {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root) : []
  const found = versions.map((version) => join(root, version, 'bin', name)).find(existsSync)
  return found ?? name
}
