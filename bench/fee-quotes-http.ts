import { rmSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { customerScopes } from '../src/contract/scopes.ts'
import { encodeAddress } from '../src/sandbox/encode-address.ts'
import type { CryptoNetwork } from '../src/values/network.ts'
import { callUrl, configOf, fetchToken, temporaryFolder } from '../test/support/harness.ts'
import { startProcess } from './process.ts'
import { makeClient } from './world.ts'

/**
 * Fee quotes over HTTP, each on disk before it is answered, compared with a bare node:http server
 * that reads the same bodies and stores nothing. Both run in alternation; compare the ratio only.
 * The load comes from many clients, because the cost of a quote grows with the client's open ones.
 */
const SECONDS = Number(process.env.SECONDS ?? 5)
const ROUNDS = 3
const CONNECTIONS = 64
const CLIENTS = 300
const path = '/v2/transfer/fees/crypto-withdrawal'

const folder = temporaryFolder()
const config = configOf({ DATABASE_URL: `sqlite:${join(folder, 'bench.db')}` })
const [cpu] = cpus()
say(`Node ${process.version}, ${cpus().length} × ${cpu?.model}`)
const clients: Awaited<ReturnType<typeof makeClient>>[] = []
for (let at = 0; at < CLIENTS; at += 1) {
  clients.push(await makeClient(config, { scopes: customerScopes }))
}
const service = await startProcess(['src/main.ts', 'serve'], {
  DATABASE_URL: config.databaseUrl,
  PORT: '0',
  LOG_LEVEL: 'silent',
  BURSAR_ACCEPT_SAMPLE_FEES: 'true',
  BURSAR_FEE_QUOTES_OPEN_MAX: '1000000000',
})
const bare = await startProcess(['bench/bare-post-server.ts'])
const tokens: string[] = []
for (const client of clients) tokens.push(await fetchToken(service.url, client))
await compare('BTC', 'BITCOIN')
await compare('USDC', 'ETHEREUM')
await compare('USDG', 'SOLANA')
await bare.stop()
await service.stop()
rmSync(folder, { recursive: true })

async function compare(asset: string, network: CryptoNetwork): Promise<void> {
  const bodies = Array.from({ length: 1000 }, (_, at) => bodyOf(asset, network, at))
  const first = await callUrl(`${service.url}${path}`, {
    token: tokens[0] ?? '',
    method: 'POST',
    body: bodies[0] ?? '',
  })
  if (first.status !== 200) throw new Error(`${asset} answers ${first.status}: ${first.text}`)
  const rates = { bare: [] as number[], service: [] as number[] }
  const latencies: autocannon.Result['latency'][] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.bare.push((await load(bare.url, bodies)).requests.average)
    const result = await load(service.url, bodies)
    rates.service.push(result.requests.average)
    latencies.push(result.latency)
  }
  const [ceiling, served] = [median(rates.bare), median(rates.service)]
  const [p50, p99] = [
    median(latencies.map((each) => each.p50)),
    median(latencies.map((each) => each.p99)),
  ]
  say(
    `${asset} on ${network}: ${Math.round(served)} quotes/s of ${Math.round(ceiling)}/s bare, ratio ${(served / ceiling).toFixed(2)}; with ${CONNECTIONS} connections p50 ${p50} ms, p99 ${p99} ms`,
  )
}

function bodyOf(asset: string, network: CryptoNetwork, at: number): string {
  const payload = Buffer.alloc(32, 7)
  payload.writeUInt32BE(at + 1)
  return JSON.stringify({
    asset,
    crypto_network: network,
    destination_address: encodeAddress(network, payload),
    amount: `${1 + at}.125`,
  })
}

async function load(url: string, bodies: readonly string[]): Promise<autocannon.Result> {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: bodies.map((body, at) => ({
      method: 'POST',
      path,
      headers: {
        authorization: `Bearer ${tokens[at % tokens.length]}`,
        'content-type': 'application/json',
      },
      body,
    })),
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} answers were not 2xx, ${result.errors} connections failed`)
  }
  return result
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
