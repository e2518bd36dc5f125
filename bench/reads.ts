import { rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { importEntries } from '../src/intake/import-file.ts'
import type { Entry } from '../src/intake/lines.ts'
import { createClient } from '../src/oauth/clients.ts'
import { systemClock } from '../src/platform/clock.ts'
import { fiatAccount } from '../src/resources/fiat-account.ts'
import { openCredentials, openKeyringOf, openRecords, recordRules } from '../src/service.ts'
import { systemRandom } from '../src/vault/random.ts'
import { callUrl, fetchToken, temporaryFolder, testConfig } from '../test/support/harness.ts'
import { aFiatAccount } from '../test/support/records.ts'
import { startProcess } from './process.ts'

/**
 * Reads beside their ceiling: a bare node:http server that answers the same bytes from memory, in the same run, turn by
 * turn. Only the ratio means anything; the same machine moves by a quarter from run to run.
 */
const RECORDS = Number(process.env.RECORDS ?? 200_000)
const SECONDS = Number(process.env.SECONDS ?? 5)
const CUSTOMERS = 50
const ROUNDS = 3
const CONNECTIONS = 32

const folder = temporaryFolder()
const config = testConfig(folder)
const [cpu] = cpus()
say(`Node ${process.version}, ${cpus().length} × ${cpu?.model}, ${RECORDS} records`)
await fill()
const client = await makeClient()
const service = await startProcess(['src/main.ts', 'serve'], {
  DATABASE_URL: config.databaseUrl,
  PORT: '0',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
})
const token = await fetchToken(service.url, client)
const gets = Array.from({ length: 1000 }, (_, at) => idOf(at * CUSTOMERS))
await compare(
  'get',
  gets.map((id) => `/v2/transfer/fiat-accounts/${id}`),
)
await compare('list of 100', ['/v2/transfer/fiat-accounts?limit=100'])
await compare('list of 1000', ['/v2/transfer/fiat-accounts?limit=1000'])
await service.stop()
rmSync(folder, { recursive: true })

async function fill(): Promise<void> {
  const store = await openRecords(config, systemClock)
  const report = await importEntries(store, fiatAccount.resource, records(), {
    dryRun: false,
    allowOlder: false,
    rules: recordRules(config),
  })
  if (report.added !== RECORDS) throw new Error(`stored ${report.added} of ${RECORDS}`)
  await store.close()
}

async function* records(): AsyncIterable<Entry> {
  for (let at = 0; at < RECORDS; at += 1) {
    const value = aFiatAccount({
      id: idOf(at),
      customer_id: `customer-${at % CUSTOMERS}`,
      ref_id: `ref-${at}`,
      created_at: new Date(1_700_000_000_000 + at * 1000).toISOString(),
      metadata: { label: 'x'.repeat(60), second: 'y'.repeat(60) },
    })
    yield { line: at + 1, value }
  }
}

/** Ids spread over the whole range, as random ones are. */
function idOf(at: number): string {
  const spread = ((at * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')
  return `${spread}-0000-4000-8000-${String(at).padStart(12, '0')}`
}

async function makeClient() {
  const store = await openCredentials(config)
  const keyring = await openKeyringOf(config, store, systemClock)
  const made = await createClient(
    { store, keyring, clock: systemClock, random: systemRandom },
    { customerId: 'customer-0', name: 'bench', scopes: undefined, method: { kind: 'secret' } },
  )
  await store.close()
  if (!('client' in made) || made.secret === undefined) throw new Error('no client')
  return { customerId: 'customer-0', clientId: made.client.id, clientSecret: made.secret.reveal() }
}

async function compare(name: string, paths: readonly string[]): Promise<void> {
  const { text, status } = await callUrl(`${service.url}${paths[0]}`, { token })
  if (status !== 200) throw new Error(`${name} answers ${status}`)
  const bodyFile = join(folder, 'body.json')
  writeFileSync(bodyFile, text)
  const bare = await startProcess(['bench/bare-server.ts', bodyFile])
  const rates = { bare: [] as number[], service: [] as number[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.bare.push(await load(bare.url, paths))
    rates.service.push(await load(service.url, paths))
  }
  await bare.stop()
  const [ceiling, served] = [median(rates.bare), median(rates.service)]
  say(
    `${name} (${Buffer.byteLength(text)} bytes): ${Math.round(served)}/s of ${Math.round(ceiling)}/s bare, ratio ${(served / ceiling).toFixed(2)}`,
  )
}

async function load(url: string, paths: readonly string[]): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: paths.map((path) => ({ method: 'GET', path, headers })),
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} answers were no success, ${result.errors} connections failed`)
  }
  return result.requests.average
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
