import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { openEmbedded } from './embedded.ts'
import { openLoop } from './open-loop.ts'
import { openPostgres } from './postgres.ts'
import { say } from './report.ts'
import { runWrk } from './wrk.ts'

/**
 * Lists of 100 at half of the peak rate for ten minutes, or MINUTES. Prints memory, descriptors and
 * latencies of each minute, which should be flat: `node bench/soak.ts`, or with `postgres`.
 */
const MINUTES = Number(process.env.MINUTES ?? 10)
const path = '/v2/transfer/fiat-accounts?limit=100&order=ASC'

const records = 200_000
const isPostgres = process.argv[2] === 'postgres'
const store = isPostgres ? await openPostgres(records, false) : await openEmbedded(records)
const { world, service, stop } = store
const [token = ''] = world.tokens
const load = { url: service.url, tokens: [token] }
const peak = await runWrk({ ...load, requests: world.pages(100), seconds: 10 })
say(`peak ${Math.round(peak.rate)} cold pages/s, mean ${peak.mean.toFixed(1)} ms`)
for (let minute = 1; minute <= MINUTES; minute += 1) {
  const { p50, p99, rate } = await openLoop({
    url: service.url,
    token,
    path,
    rate: peak.rate / 2,
    seconds: 60,
  })
  const status = readFileSync(`/proc/${service.pid}/status`, 'utf8')
  const memory = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1000
  const descriptors = readdirSync(`/proc/${service.pid}/fd`).length
  say(
    `minute ${minute}: ${Math.round(rate)}/s, p50 ${p50} ms, p99 ${p99} ms, ${memory.toFixed(0)} MB, ${descriptors} descriptors`,
  )
}
await stop()
rmSync(world.folder, { recursive: true })
process.exit()
