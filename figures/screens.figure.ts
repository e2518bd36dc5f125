import { after, test } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { fixtureIds } from '../packages/sandbox/src/story.ts'
import { chromiumFlags, chromiumPath } from '../test/support/chromium.ts'
import { describeService } from '../test/support/describe-service.ts'
import { note, rounded } from './figure.ts'

/**
 * What a long list and a first record take with a processor that is four times slowed, as
 * Lighthouse's phone is. The time of the page's thread is multiplied, so that other work of the
 * machine does not count.
 */

const SLOWED = 4
const RUNS = 5
const SETTLE_MS = 2000
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const service = describeService()
let browser: Promise<Browser> | undefined

/** A page on which the staff have signed in. */
async function signedIn(options: BrowserContextOptions): Promise<Page> {
  browser ??= chromium.launch({ executablePath: chromiumPath, args: chromiumFlags })
  const context = await (await browser).newContext(options)
  const page = await context.newPage()
  await page.goto(`${service.url}/console/`)
  await page.getByRole('button', { name: 'Sign in as Operator staff' }).click()
  await page.locator('#find').waitFor()
  return page
}

const open = (page: Page, fragment: string) => page.evaluate(`location.hash = '${fragment}'`)

after(async () => (await browser)?.close())

/** Starts a meter of the milliseconds that the thread of the page is busy. */
async function openMeter(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busyMs = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN)
  }
  const before = await busyMs()
  return async () => (await busyMs()) - before
}

/** Resolves in the page when the first row is on the screen. */
const shown = (row: string) => `new Promise((resolve) => {
  const observer = new MutationObserver(() => {
    if (document.querySelector('${row}') === null) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(resolve))
  })
  observer.observe(document.body, { childList: true, subtree: true })
})`

/** Moves the page by a third of a window in each of 60 frames. */
const scroll = `(async () => {
  for (let frame = 0; frame < 60; frame += 1) {
    scrollBy(0, innerHeight / 3)
    await new Promise(requestAnimationFrame)
  }
})()`

async function measureList(options: BrowserContextOptions, row: string) {
  const page = await signedIn(options)
  const held = Promise.withResolvers<void>()
  await page.route('**/customers/acme/deposit-addresses*', async (route) => {
    const response = await route.fetch()
    const body = await response.body()
    await held.promise
    await route.fulfill({ response, body })
  })
  await open(page, '#/list/deposit-addresses?customer=acme&limit=1000')
  await page.getByText('Loading deposit addresses').waitFor()
  // What else the screen loads does not count.
  await page.waitForTimeout(SETTLE_MS)
  const drawn = page.evaluate(shown(row))
  const drawing = await openMeter(page)
  held.resolve()
  await drawn
  const drawMs = await drawing()
  const scrolling = await openMeter(page)
  await page.evaluate(scroll)
  const frameMs = (await scrolling()) / 60
  await page.context().close()
  return { drawMs, frameMs }
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN

for (const [name, options, row] of [
  ['as cards', phone, 'li[data-id]'],
  ['as a table', { viewport: { width: 1280, height: 800 } }, 'tr[data-id]'],
] as const) {
  test(`a list of 1,000 rows ${name}`, async (t) => {
    const runs: Awaited<ReturnType<typeof measureList>>[] = []
    for (let run = 0; run < RUNS; run += 1) runs.push(await measureList(options, row))
    const of = (figure: 'drawMs' | 'frameMs') =>
      rounded(SLOWED * median(runs.map((run) => run[figure])))
    const list = `1,000 rows ${name}, four times slowed`
    note(t, {
      name: `${list}: from the answer to the screen`,
      value: of('drawMs'),
      unit: 'ms',
      goal: 100,
    })
    note(t, {
      name: `${list}: a frame while scrolling`,
      value: of('frameMs'),
      unit: 'ms',
      goal: 16.7,
    })
  })
}

test('the first record from a cold cache', async (t) => {
  const values: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    const page = await signedIn(phone)
    await open(page, `#/record/fiat-accounts/${fixtureIds['fiat-accounts']}?customer=acme`)
    await page.locator('.slip').first().waitFor()
    const session = await page.context().newCDPSession(page)
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWED })
    await page.addInitScript(`addEventListener('DOMContentLoaded', () => {
      const observer = new MutationObserver(() => {
        if (document.querySelector('.slip') === null) return
        observer.disconnect()
        document.documentElement.dataset.shownAt = performance.now()
      })
      observer.observe(document.body, { childList: true, subtree: true })
    })`)
    await page.reload()
    await page.locator('html[data-shown-at]').waitFor()
    values.push(Number(await page.locator('html').getAttribute('data-shown-at')))
    await page.context().close()
  }
  const name = 'the first record from a cold cache, four times slowed'
  note(t, { name, value: rounded(median(values)), unit: 'ms', goal: 1000 })
})
