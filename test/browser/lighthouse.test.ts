import assert from 'node:assert/strict'
import lighthouse, { desktopConfig } from 'lighthouse'
import { chromium } from 'playwright-core'
import { connect } from 'puppeteer-core'
import { fixtureIds } from '../../src/sandbox/story.ts'
import { chromiumFlags, chromiumPath } from '../support/chromium.ts'
import { freePort } from '../support/free-port.ts'
import { startTestService } from '../support/harness.ts'
import { longTest } from '../support/long.ts'

const SCORE_MIN = 0.95
/** Lighthouse itself advises the median, since other work of the machine lowers a score. */
const RUNS = 3
const onlyCategories = ['performance', 'accessibility', 'best-practices']

/**
 * Lighthouse slows the processor and the network to those of a phone, or of a desktop. A list is
 * judged as on a desktop, since a hundred rows take a phone's processor a second.
 */
longTest(`Lighthouse gives each screen at least ${SCORE_MIN}`, async () => {
  const service = await startTestService()
  const port = await freePort()
  const args = [...chromiumFlags, `--remote-debugging-port=${port}`]
  const browser = await chromium.launch({ executablePath: chromiumPath, args })
  try {
    const debugged = await connect({ browserURL: `http://127.0.0.1:${port}` })
    const page = await debugged.newPage()
    const url = `${service.url}/console/`
    const assertScores = async (
      about: string,
      address: string,
      configs: readonly (typeof desktopConfig | undefined)[] = [desktopConfig],
    ) => {
      const flags = { port, onlyCategories, disableStorageReset: true, logLevel: 'error' } as const
      for (const config of configs) {
        const runs: Record<string, number>[] = []
        for (let run = 0; run < RUNS; run += 1) {
          const { categories = {} } = (await lighthouse(address, flags, config, page))?.lhr ?? {}
          const scores = Object.entries(categories).map(([name, { score }]) => [name, score ?? 0])
          runs.push(Object.fromEntries(scores))
        }
        for (const category of onlyCategories) {
          const scores = runs.map((scored) => scored[category] ?? 0).sort()
          const median = scores[Math.floor(RUNS / 2)] ?? 0
          assert.ok(median >= SCORE_MIN, `${about}, ${category}: ${scores}`)
        }
      }
    }
    const both = [undefined, desktopConfig]
    await assertScores('the sign-in', url, both)
    await page.goto(url)
    await page.locator('button.primary').click()
    await page.locator('#find').wait()
    await assertScores('Find', `${url}#/`, both)
    await assertScores('a list', `${url}#/list/statements?customer=acme`)
    await page.locator('.scroll tbody tr').wait()
    const account = `${url}#/record/fiat-accounts/${fixtureIds['fiat-accounts']}?customer=acme`
    await assertScores('a record', account)
  } finally {
    await browser.close()
    await service.stop()
  }
})
