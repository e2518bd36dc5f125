import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { openEmbedded } from './embedded.ts'
import { figuresOf, runAtFixedRate } from './fixed-rate.ts'
import { openPostgres } from './postgres.ts'
import { say } from './report.ts'
import { runWrk } from './wrk.ts'

/**
 * Lists of 100 at half of the peak rate for ten minutes, or MINUTES. Prints memory, descriptors and
 * latencies of each minute, which should be flat: `node bench/soak.ts`, or with `postgres`.
 */
const MINUTES = Number(process.env.MINUTES ?? 10)

const records = 200_000
const isPostgres = process.argv[2] === 'postgres'
const store = isPostgres ? await openPostgres(records, false) : await openEmbedded(records)
const { world, service, stop } = store
const load = { url: service.url, tokens: world.tokens, requests: world.pages(100) }
const peak = await runWrk({ ...load, seconds: 10 })
say(`peak ${Math.round(peak.rate)} cold pages/s, mean ${peak.mean.toFixed(1)} ms`)
for (let minute = 1; minute <= MINUTES; minute += 1) {
  const found = await runAtFixedRate({ ...load, rate: peak.rate / 2, seconds: 60 })
  const status = readFileSync(`/proc/${service.pid}/status`, 'utf8')
  const memory = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1000
  const descriptors = readdirSync(`/proc/${service.pid}/fd`).length
  const used = `${memory.toFixed(0)} MB, ${descriptors} descriptors`
  say(`minute ${minute}: ${Math.round(found.rate)}/s, ${figuresOf(found)}, ${used}`)
}
await stop()
rmSync(world.folder, { recursive: true })
process.exit()
