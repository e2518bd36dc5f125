import { chromium } from 'playwright-core'
import { chromiumFlags, chromiumPath } from '../test/support/chromium.ts'
import { startProcess } from '../test/support/server-process.ts'
import { measure } from './distribution.ts'

/**
 * How long the console takes until a record is on screen, in Debian's Chromium beside a sandbox on
 * the same cores: from an empty cache, after a click, and after a paste.
 */
const TIMES = Number(process.env.TIMES ?? 20)
const sandbox = await startProcess(['src/main.ts', 'sandbox', '--json', '--port', '0'])
const browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumFlags })
const address = `${sandbox.url}/console/#/list/statements?customer=acme&limit=20`
const open = async () => {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
  return { page, close: () => context.close() }
}

await measure('empty cache to the first record', TIMES, async () => {
  const { page, close } = await open()
  await page.goto(address)
  await page.getByRole('button', { name: 'Sign in as Operator staff' }).click()
  await page.locator('.scroll tbody tr').first().waitFor()
  return close
})

const { page, close } = await open()
await page.goto(address)
await page.getByRole('button', { name: 'Sign in as Operator staff' }).click()
const show = (fragment: string, selector: string) => async () => {
  await page.goto(`${sandbox.url}/console/${fragment}`)
  await page.locator(selector).first().waitFor()
  return () => page.goto(`${sandbox.url}/console/#/fees`)
}
const list = '#/list/statements?customer=acme&limit='
await measure('reload to the first record', TIMES, async () => {
  await page.goto(address)
  await page.reload()
  await page.locator('.scroll tbody tr').first().waitFor()
  return {}
})
await page.goto(`${sandbox.url}/console/#/fees`)
await measure('a list of 20 rows', TIMES, show(`${list}20`, '.scroll tbody tr'))
await measure('a list of 100 rows', TIMES, show(`${list}100`, '.scroll tbody tr'))
await measure('a memo to its record', TIMES, async () => {
  await page.goto(`${sandbox.url}/console/#/`)
  await page.locator('#find').fill('SANDBOXMEMO00001')
  await page.keyboard.press('Enter')
  await page.locator('article .card').waitFor()
  return {}
})
await close()
await browser.close()
await sandbox.stop()
