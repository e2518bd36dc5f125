import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from '@bursar/base'
import { operatorScopes } from '@bursar/contract'
import { askServer } from '../test/faults/support/ask-server.ts'
import { configOf, fetchToken, temporaryFolder } from '../test/support/harness.ts'
import {
  durableSettings,
  type PostgresServer,
  startPostgres,
} from '../test/support/postgres-server.ts'
import { type Listening, startProcess } from '../test/support/server-process.ts'
import { prepareServer } from '../test/support/test-database.ts'
import { serverEnv } from './embedded.ts'
import { account, accounts, BIG, fill, idOf, makeClient } from './world.ts'
import { runWrk } from './wrk.ts'

/**
 * Single records over HTTP, and past pages beside current ones, on one store: `node bench/ingest.ts
 * embedded|postgres [records] [seconds]`. PostgreSQL has a synchronous standby that applies 5 ms
 * later. The writers share one client: 64 in flight are eight writers with eight requests each.
 */

const [, , where = 'embedded', records = '20000', seconds = '6'] = process.argv
const RECORDS = Number(records)
const SECONDS = Number(seconds)
/** Rounds of the reads. */
const ROUNDS = 5
const DATABASE = 'bursar_template'

type Opened = {
  readonly config: Config
  readonly env: Readonly<Record<string, string>>
  stop(): Promise<void>
}

async function openEmbedded(): Promise<Opened> {
  const env = { DATABASE_URL: `sqlite:${join(temporaryFolder(), 'bench.db')}` }
  return { config: configOf(env), env, stop: async () => {} }
}

async function openReplicated(): Promise<Opened> {
  const server = await startPostgres({ settings: [...durableSettings, 'shared_buffers = 256MB'] })
  await prepareServer(server)
  const standby = await server.addStandby('late')
  // ALTER SYSTEM runs on a standby too.
  const set = async (node: PostgresServer, setting: string) => {
    await askServer(node, `alter system set ${setting}`, 'postgres')
    await askServer(node, 'select pg_reload_conf()', 'postgres')
  }
  await set(standby, 'recovery_min_apply_delay = 5')
  await set(server, `synchronous_standby_names = '*'`)
  await set(server, `synchronous_commit = 'remote_apply'`)
  const env = {
    DATABASE_URL: server.url('bursar', DATABASE),
    OPERATOR_DATABASE_URL: server.url('bursar_operator', DATABASE),
    BURSAR_MASTER_KEY: randomBytes(32).toString('base64'),
  }
  const stop = async () => {
    await standby.stop()
    await server.stop()
  }
  return { config: configOf(env), env, stop }
}

const opened = await (where === 'postgres' ? openReplicated() : openEmbedded())
await fill(opened.config, accounts(RECORDS))
const service = await startProcess(['dist/main.js', 'serve'], {
  env: { ...opened.env, ...serverEnv },
})
const operator = await fetchToken(
  service.url,
  await makeClient(opened.config, { customerId: null, scopes: operatorScopes }),
)
const customer = await fetchToken(service.url, await makeClient(opened.config, { customerId: BIG }))
try {
  await measure(service)
} finally {
  await service.stop()
  await opened.stop()
}

async function measure({ url }: Listening): Promise<void> {
  const from = new Date().toISOString()
  const put = async (connections: number) => {
    const { rate, p50, p99 } = await runWrk({
      url,
      tokens: [operator],
      seconds: SECONDS,
      connections,
      requests: changes(),
      headers: { 'content-type': 'application/json' },
    })
    const figures = `${Math.round(rate)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
    process.stdout.write(`PUT, ${connections} in flight: ${figures}\n`)
  }
  for (const connections of [1, 64]) await put(connections)
  // Each page begins elsewhere, so none is answered from memory.
  const pages = (path: string, token: number) =>
    Array.from({ length: 2000 }, (_, at) => ({
      path: `${path}limit=100&created_at.lte=${new Date(1_700_000_000_000 + at * 9000).toISOString()}`,
      token,
    }))
  const past = `/ingest/v1/customers/${BIG}/fiat-accounts?`
  const lists = [
    { name: 'current page of the customer', path: '/v2/transfer/fiat-accounts?', token: 1 },
    { name: 'the same page now, as the operator', path: past, token: 0 },
    { name: 'the page before the changes', path: `${past}as_of=${from}&`, token: 0 },
  ]
  // In turn, so that what else runs on the machine disturbs all of them.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name, path, token } of lists) {
      const load = { url, tokens: [operator, customer], seconds: SECONDS / 2, connections: 64 }
      const { rate } = await runWrk({ ...load, requests: pages(path, token) })
      process.stdout.write(`${name}: ${Math.round(rate)}/s\n`)
    }
  }
}

/** Each request changes one of the first records, whose names go round. */
function changes() {
  let round = 0
  return Array.from({ length: 24_000 }, (_, at) => {
    const index = at % 4000
    if (index === 0) round += 1
    const record = { ...account(index), ref_id: `ref-${index}-${round}-${process.pid}` }
    return {
      path: `/ingest/v1/fiat-accounts/${idOf(index)}`,
      method: 'PUT' as const,
      body: JSON.stringify(record),
    }
  })
}
