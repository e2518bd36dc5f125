import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { until } from '../support/until.ts'
import { browserTest, openBrowsing } from './support/browse.ts'

const browsing = openBrowsing()

/** Opens a list of 1,000 rows, and returns how long the page's thread was busy with it. */
async function openLong(page: Page, open: (fragment: string) => Promise<void>, rows: string) {
  const path = '**/customers/acme/deposit-addresses*'
  const held = Promise.withResolvers<void>()
  await page.route(path, async (route) => {
    const response = await route.fetch()
    const body = await response.body()
    await held.promise
    await route.fulfill({ response, body })
  })
  const session = await page.context().newCDPSession(page)
  await open('#/list/deposit-addresses?customer=acme&limit=1000')
  await page.getByText('Loading deposit addresses').waitFor()
  // The time of the thread, so that other work of the machine does not count.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busyMs = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    const named = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0
    return 1000 * (named('ScriptDuration') + named('LayoutDuration') + named('RecalcStyleDuration'))
  }
  const before = await busyMs()
  held.resolve()
  await page.locator(rows).first().waitFor()
  return (await busyMs()) - before
}

/** Wherever the list is scrolled to, a row stands in the middle of the window. */
async function assertNoGap(page: Page, rows: string): Promise<void> {
  for (const part of [0.25, 0.5, 0.9]) {
    await page.evaluate((share) => scrollTo(0, document.body.scrollHeight * share), part)
    await page.waitForFunction(
      (row) => document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest(row),
      rows,
    )
  }
  const drawn = await page.locator(rows).count()
  // Those in the window, and half a window's height around it.
  assert.ok(drawn < 160, `${drawn} rows`)
}

browserTest(
  'a list of 1,000 rows draws those that are seen, and scrolls without a gap',
  async (t) => {
    const { page, open, signIn } = await browsing.newPage()
    await signIn()
    const took = await openLong(page, open, 'tr[data-id]')
    t.diagnostic(`scripts, styles and layout took ${took.toFixed(0)} ms`)
    assert.equal(await page.locator('.records').getAttribute('aria-rowcount'), '1001')
    const first = page.locator('tr[data-id] a').first()
    await first.focus()
    await assertNoGap(page, 'tr[data-id]')
    assert.ok(await first.evaluate((link) => link === document.activeElement))
  },
)

browserTest('a list of 1,000 rows is printed whole, and drawn in part again after it', async () => {
  const { page, open, signIn } = await browsing.newPage()
  await signIn()
  await open('#/list/deposit-addresses?customer=acme&limit=1000')
  const rows = page.locator('tr[data-id]')
  await rows.first().waitFor()
  const drawnAtPrint = page.evaluate(
    () =>
      new Promise((resolve) => {
        addEventListener('beforeprint', () =>
          resolve(document.querySelectorAll('tr[data-id]').length),
        )
      }),
  )
  await page.pdf()
  assert.equal(await drawnAtPrint, 1000)
  await until(async () => (await rows.count()) < 160)
})

browserTest('on a phone such a list draws the cards that are seen', async (t) => {
  const { page, open, signIn } = await browsing.newPage({ viewport: { width: 390, height: 844 } })
  await signIn()
  const took = await openLong(page, open, 'li[data-id]')
  t.diagnostic(`scripts, styles and layout took ${took.toFixed(0)} ms`)
  assert.equal(await page.locator('li[data-id]').first().getAttribute('aria-setsize'), '1000')
  await assertNoGap(page, 'li[data-id]')
  // The last card is reached, and nothing comes after it but the pages.
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  await page.locator('li[aria-posinset="1000"]').waitFor()
})
