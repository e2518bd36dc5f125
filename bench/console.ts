import { setTimeout as pausing } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { chromiumFlags, chromiumPath } from '../test/support/chromium.ts'
import { startProcess } from '../test/support/server-process.ts'
import { measure } from './distribution.ts'

/**
 * How long the console takes until a record is on screen, in Debian's Chromium beside a sandbox on
 * the same cores: from an empty cache in an open window, after a click, and after a paste.
 */
const TIMES = Number(process.env.TIMES ?? 20)
const sandbox = await startProcess(['packages/cli/src/main.ts', 'sandbox', '--json', '--port', '0'])
const browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumFlags })
const address = `${sandbox.url}/console/#/list/statements?customer=acme&limit=20`
const open = async () => {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
  return { page, close: () => context.close() }
}

/** For some seconds after it opens a window, Chromium loads the pages of its own address bar. */
const openWindow = async () => {
  const opened = await open()
  await pausing(4000)
  return opened
}

await measure(
  'empty cache to the first record',
  TIMES,
  async ({ page, close }) => {
    await page.goto(address)
    await page.getByRole('button', { name: 'Sign in as Operator staff' }).click()
    await page.locator('.records tbody tr[data-id]').first().waitFor()
    return close
  },
  openWindow,
)

const { page, close } = await open()
await page.goto(address)
await page.getByRole('button', { name: 'Sign in as Operator staff' }).click()
// A reload before it is done would end the sign-in.
await page.locator('.records tbody tr[data-id]').first().waitFor()
const show = (fragment: string, selector: string) => async () => {
  await page.goto(`${sandbox.url}/console/${fragment}`)
  await page.locator(selector).first().waitFor()
  return () => page.goto(`${sandbox.url}/console/#/fees`)
}
const list = '#/list/statements?customer=acme&limit='
await measure('reload to the first record', TIMES, async () => {
  await page.goto(address)
  await page.reload()
  await page.locator('.records tbody tr[data-id]').first().waitFor()
  return {}
})
await page.goto(`${sandbox.url}/console/#/fees`)
await measure('a list of 20 rows', TIMES, show(`${list}20`, '.records tbody tr[data-id]'))
await measure('a list of 100 rows', TIMES, show(`${list}100`, '.records tbody tr[data-id]'))
await measure('a memo to its record', TIMES, async () => {
  await page.goto(`${sandbox.url}/console/#/`)
  await page.locator('#find').fill('SANDBOXMEMO00001')
  await page.keyboard.press('Enter')
  await page.locator('article[data-id] .card').first().waitFor()
  return {}
})
await close()
await browser.close()
await sandbox.stop()
