import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { openEmbedded } from './embedded.ts'
import { median, say } from './report.ts'
import { writeRows } from './rows/writes.ts'
import { runWrk } from './wrk.ts'

/**
 * Gets, pages, quotes and imports with more and more records: `node bench/growth.ts`. Writes the
 * rates to `bench/results/growth.json`, from which `bench/growth-plot.ts` draws the plot. The
 * stores take turns, because the pace of a machine changes within minutes.
 */
const SIZES = (process.env.SIZES ?? '10000,100000,1000000,10000000').split(',').map(Number)
const SECONDS = 4
const ROUNDS = 5

const stores: Awaited<ReturnType<typeof openSize>>[] = []
// The largest first: its import may take longer than a token lives.
for (const records of SIZES.toSorted((a, b) => b - a)) {
  const store = await openSize(records)
  stores.unshift(store)
  say(`${records} records were imported in ${(store.filledMs / 1000).toFixed(0)} s`)
}
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const { records, rates, works } of stores) {
    for (const [what, work] of Object.entries(works)) {
      const rate = await work(round)
      // The first round warms the compiler and the caches.
      if (round > 0) rates[what] = [...(rates[what] ?? []), rate]
    }
    say(`round ${round}: ${records} records`)
  }
}
const measured = stores.map(({ records, rates, filledMs }) => ({
  records,
  ...Object.fromEntries(Object.entries(rates).map(([what, all]) => [what, median(all)])),
  import: (records * 1000) / filledMs,
}))
mkdirSync('bench/results', { recursive: true })
writeFileSync('bench/results/growth.json', `${JSON.stringify(measured, null, 2)}\n`)
say(JSON.stringify(measured))
for (const { stop, folder } of stores) {
  await stop()
  rmSync(folder, { recursive: true })
}
process.exit()

async function openSize(records: number) {
  const { config, world, service, stop, filledMs } = await openEmbedded(records)
  const load = { url: service.url, tokens: world.tokens, seconds: SECONDS }
  const [gets, pages] = [world.gets(0), world.pages(100)]
  const [quotes] = await writeRows({ config, service, seconds: SECONDS, goal: 0 })
  const rates: Record<string, readonly number[]> = {}
  const works = {
    get: async () => (await runWrk({ ...load, requests: gets })).rate,
    list: async () => (await runWrk({ ...load, requests: pages })).rate,
    quote: async (round: number) => (await quotes?.measure(round))?.ours ?? 0,
  }
  return { records, stop, filledMs, rates, works, folder: world.folder }
}
