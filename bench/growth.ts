import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { openEmbedded } from './embedded.ts'
import { median, say } from './report.ts'
import { writeRows } from './rows/writes.ts'
import { runWrk } from './wrk.ts'

/**
 * Gets, pages, quotes and imports with more and more records: `node bench/growth.ts`. Writes the
 * rates to `bench/results/growth.json`, from which `bench/growth-plot.ts` draws the plot.
 */
const SIZES = (process.env.SIZES ?? '10000,100000,1000000,10000000').split(',').map(Number)
const SECONDS = 4
const ROUNDS = 3

type Rates = Readonly<Record<'records' | 'get' | 'list' | 'quote' | 'import', number>>

const measured: Rates[] = []
for (const records of SIZES) {
  const startedAt = performance.now()
  const { config, world, service, stop, filledMs } = await openEmbedded(records)
  const rateOf = async (work: () => Promise<number>) => {
    const rates: number[] = []
    for (let round = 0; round <= ROUNDS; round += 1) rates.push(await work())
    // The first round warms the compiler.
    return median(rates.slice(1))
  }
  const load = { url: service.url, tokens: world.tokens, seconds: SECONDS }
  const get = await rateOf(async () => (await runWrk({ ...load, requests: world.gets(0) })).rate)
  const list = await rateOf(
    async () => (await runWrk({ ...load, requests: world.pages(100) })).rate,
  )
  const [quotes] = await writeRows({ config, service, seconds: SECONDS, goal: 0 })
  const quote = await rateOf(async () => (await quotes?.measure(0))?.ours ?? 0)
  measured.push({ records, get, list, quote, import: (records * 1000) / filledMs })
  say(
    `${JSON.stringify(measured.at(-1))} after ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
  )
  await stop()
  rmSync(world.folder, { recursive: true })
  mkdirSync('bench/results', { recursive: true })
  writeFileSync('bench/results/growth.json', `${JSON.stringify(measured, null, 2)}\n`)
}
process.exit()
