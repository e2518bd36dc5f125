import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { chromiumFlags, chromiumPath, isChromiumMissing } from '../../support/chromium.ts'
import { describeService } from '../../support/describe-service.ts'
import type { ServiceOptions, TestService } from '../../support/harness.ts'

/** A test with a browser. Without one it is skipped, but never in CI. */
export const browserTest = (promise: string, prove: (context: TestContext) => Promise<void>) =>
  test(promise, { skip: isChromiumMissing ? `${chromiumPath} is missing` : false }, prove)

/** A page of the console, and what went wrong in it: errors and requests to other hosts. */
export type ConsolePage = {
  readonly page: Page
  readonly faults: string[]
  open(fragment: string): Promise<void>
  /** Signs in as a client of the sandbox. */
  signIn(name?: string): Promise<void>
}

export type Browsing = {
  readonly service: TestService
  newPage(options?: BrowserContextOptions): Promise<ConsolePage>
}

/** One browser and one sandbox for a file of tests. Each page has its own session. */
export function openBrowsing(options: ServiceOptions = {}): Browsing {
  let browser: Promise<Browser> | undefined
  const service = describeService(options)
  after(async () => {
    await (await browser)?.close()
  })
  return {
    get service() {
      return service
    },
    newPage: async (contextOptions = {}) => {
      browser ??= chromium.launch({ executablePath: chromiumPath, args: chromiumFlags })
      return consolePage(await browser, service.url, contextOptions)
    },
  }
}

export async function consolePage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    permissions: ['clipboard-read', 'clipboard-write'],
    viewport: { width: 1280, height: 800 },
    ...options,
  })
  await context.addInitScript(noteDrawnHash)
  const page = await context.newPage()
  // The limit only ends what hangs. Browsers that share two cores and draw without a graphics card
  // may need more than 15 s to load the page of the API.
  page.setDefaultTimeout(60_000)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    // A refused request is part of what the tests do; the page shows it.
    const isRefusal = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isRefusal) faults.push(message.text())
  })
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== new URL(url).origin && protocol !== 'data:') faults.push(`asked ${origin}`)
  })
  const signIn = async (name = 'Operator staff') => {
    await page.goto(`${url}/console/`)
    await page.getByRole('button', { name: `Sign in as ${name}` }).click()
    await page.locator('#find').waitFor()
  }
  const open = async (fragment: string) => {
    await page.evaluate((hash) => {
      location.hash = hash
    }, fragment)
    await screenIsDrawn(page)
  }
  return { page, faults, open, signIn }
}

/**
 * Runs in the page. A browser tells a page of a new fragment some time after it has set the URL,
 * and until then the console shows what the URL before named.
 */
function noteDrawnHash(): void {
  const note = () => {
    document.documentElement.dataset.drawnHash = location.hash
  }
  addEventListener('DOMContentLoaded', note)
  addEventListener('hashchange', note)
}

/** Waits until the console has drawn the screen of its URL. The rows of a list may come later. */
async function screenIsDrawn(page: Page): Promise<void> {
  await page.waitForFunction(() => document.documentElement.dataset.drawnHash === location.hash)
}

/** Waits until a link or a choice has led to a URL, and until its screen is drawn. */
export async function arrivesAt(page: Page, url: RegExp): Promise<void> {
  await page.waitForURL(url)
  await screenIsDrawn(page)
}

/** Every fault that axe finds, as `rule: element`. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  // A string, because the page's own types are not known here.
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}

/** The cells of a column of the table that is shown, by its heading. */
export async function columnOf(page: Page, title: string): Promise<readonly string[]> {
  const titles = await page.locator('.records thead th').allTextContents()
  const at = titles.findIndex((text) => text.trim() === title)
  assert.notEqual(at, -1, `${title} is not among ${titles}`)
  return page.locator(`.records tbody tr[data-id] > *:nth-child(${at + 1})`).allTextContents()
}
