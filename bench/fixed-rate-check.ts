import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../test/support/harness.ts'
import { startProcess } from '../test/support/server-process.ts'
import { figuresOf, runAtFixedRate } from './fixed-rate.ts'
import { say } from './report.ts'
import { startNginx } from './rows/nginx.ts'
import { runWrk } from './wrk.ts'

/**
 * Checks the generator of fixed rates: `node bench/fixed-rate-check.ts`. A server that stops once
 * must show in the percentiles as computed. Against servers that do next to nothing, the generator
 * prints its own part of a latency.
 */
// 2,000 requests, of which 100 are due while the server stops: they wait for 100 ms to 0 ms.
const stalling = await startProcess(['bench/servers/stalling-server.ts', '1000', '100'])
const stall = { url: stalling.url, tokens: [], requests: [{ path: '/' }] }
const found = await runAtFixedRate({ ...stall, rate: 1000, seconds: 2 })
say(`1,000/s for 2 s, of which the server stops for 100 ms: ${figuresOf(found)}`)
const isNear = (value: number, ms: number) => value > ms - 5 && value < ms + 20
assert(found.p50 < 5, 'half of the requests do not notice the stop')
assert(isNear(found.p99, 80), '1 % of the requests, 20, wait for more than 80 ms')
assert(isNear(found.most, 100), 'the first waits for 100 ms')
await stalling.stop()

const folder = temporaryFolder()
const list = 'x'.repeat(71_000)
const file = join(folder, 'bare.json')
writeFileSync(file, JSON.stringify({ headers: [], bodies: { list } }))
const targets = {
  'node:http': [(await startProcess(['bench/servers/bare-server.ts', file])).url, '/list'],
  nginx: [(await startNginx(folder, { list })).url, '/list.json'],
} as const
for (const [name, [url, path]] of Object.entries(targets)) {
  const load = { url, tokens: [], requests: [{ path }], seconds: 3 }
  const { p50, p99 } = await runWrk({ ...load, connections: 1 })
  say(`${name}, wrk, one at a time: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`)
  for (const rate of [1000, 2000, 3000]) {
    say(`${name}, ${rate}/s: ${figuresOf(await runAtFixedRate({ ...load, rate }))}`)
  }
}
process.exit()
