import { rmSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { configOf, fetchToken, temporaryFolder } from '../test/support/harness.ts'
import { besideBare, say } from './beside-bare.ts'
import { startProcess } from './process.ts'
import { accounts, CUSTOMERS, fill, idOf, makeClient } from './world.ts'

/** Compares reads from the embedded store with bare node:http. */
const RECORDS = Number(process.env.RECORDS ?? 200_000)

const folder = temporaryFolder()
const config = configOf({ DATABASE_URL: `sqlite:${join(folder, 'bench.db')}` })
const [cpu] = cpus()
say(`Node ${process.version}, ${cpus().length} × ${cpu?.model}, ${RECORDS} records`)
await fill(config, accounts(RECORDS))
const client = await makeClient(config)
const service = await startProcess(['src/main.ts', 'serve'], {
  DATABASE_URL: config.databaseUrl,
  PORT: '0',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
})
const served = { url: service.url, token: await fetchToken(service.url, client), folder }
const gets = Array.from({ length: 1000 }, (_, at) => idOf(at * CUSTOMERS))
await besideBare(
  served,
  'get',
  gets.map((id) => `/v2/transfer/fiat-accounts/${id}`),
)
await besideBare(served, 'list of 100', ['/v2/transfer/fiat-accounts?limit=100'])
await besideBare(served, 'list of 1000', ['/v2/transfer/fiat-accounts?limit=1000'])
await service.stop()
rmSync(folder, { recursive: true })
