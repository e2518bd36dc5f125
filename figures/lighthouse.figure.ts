import assert from 'node:assert/strict'
import { test } from 'node:test'
import lighthouse, { type Config, desktopConfig } from 'lighthouse'
import { throttling } from 'lighthouse/core/config/constants.js'
import { chromium } from 'playwright-core'
import { connect } from 'puppeteer-core'
import { fixtureIds } from '../packages/sandbox/src/story.ts'
import { chromiumFlags, chromiumPath } from '../test/support/chromium.ts'
import { freePort } from '../test/support/free-port.ts'
import { startTestService } from '../test/support/harness.ts'
import { note } from './figure.ts'

/** Lighthouse itself advises the median, since other work of the machine lowers a score. */
const RUNS = 3
const onlyCategories = ['performance', 'accessibility', 'best-practices']
const OTHER_SCORES_MIN = 0.95

type Device = {
  readonly name: string
  readonly performanceMin: number
  /** The benchmark is Lighthouse's, of this machine. */
  readonly configOf: (benchmark: number) => Config | undefined
}

/** What a phone of the middle class reaches in the benchmark: Chrome's DevTools slow down to it. */
const PHONE_BENCHMARK = 1000
const phone = (benchmark: number): Config => ({
  extends: 'lighthouse:default',
  settings: {
    throttling: {
      ...throttling.mobileSlow4G,
      cpuSlowdownMultiplier: Math.max(1, benchmark / PHONE_BENCHMARK),
    },
  },
})

/** All but the desktop have a slow 4G network. Lighthouse's own phone is four times slowed. */
const devices: readonly Device[] = [
  { name: 'a phone', performanceMin: 0.9, configOf: phone },
  { name: 'a slow phone', performanceMin: 0.85, configOf: () => undefined },
  { name: 'a desktop', performanceMin: 0.95, configOf: () => desktopConfig },
]

test('the scores that Lighthouse gives each screen', async (t) => {
  const service = await startTestService()
  const port = await freePort()
  const args = [...chromiumFlags, `--remote-debugging-port=${port}`]
  const browser = await chromium.launch({ executablePath: chromiumPath, args })
  try {
    const debugged = await connect({ browserURL: `http://127.0.0.1:${port}` })
    const page = await debugged.newPage()
    const url = `${service.url}/console/`
    const flags = { port, onlyCategories, disableStorageReset: true, logLevel: 'error' } as const
    const audit = async (address: string, config?: Config) => {
      const { lhr } = (await lighthouse(address, flags, config, page)) ?? {}
      assert.ok(lhr)
      return lhr
    }
    const { benchmarkIndex } = (await audit(url)).environment
    const noteScores = async (about: string, address: string) => {
      for (const { name, performanceMin, configOf } of devices) {
        const runs: Record<string, number>[] = []
        for (let run = 0; run < RUNS; run += 1) {
          const { categories } = await audit(address, configOf(benchmarkIndex))
          const scores = Object.entries(categories).map(([of, { score }]) => [of, score ?? 0])
          runs.push(Object.fromEntries(scores))
        }
        for (const category of onlyCategories) {
          const scores = runs.map((scored) => scored[category] ?? 0).sort()
          const median = scores[Math.floor(RUNS / 2)] ?? 0
          const scoreMin = category === 'performance' ? performanceMin : OTHER_SCORES_MIN
          const figure = `${about} on ${name}, ${category}`
          note(t, { name: figure, value: median, unit: 'score', goal: scoreMin, atLeast: true })
        }
      }
    }
    t.diagnostic(`the benchmark of this machine is ${benchmarkIndex}`)
    await noteScores('the sign-in', url)
    await page.goto(url)
    await page.locator('button.primary').click()
    await page.locator('#find').wait()
    await noteScores('Find', `${url}#/find`)
    await noteScores('a list', `${url}#/list/statements?customer=acme`)
    await page.locator('.records tbody tr').wait()
    const account = `${url}#/record/fiat-accounts/${fixtureIds['fiat-accounts']}?customer=acme`
    await noteScores('a record', account)
  } finally {
    await browser.close()
    await service.stop()
  }
})
