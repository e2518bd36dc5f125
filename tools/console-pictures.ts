import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type Browser, chromium, type Page } from 'playwright-core'

/**
 * Takes the pictures of docs/console.md from a sandbox, in both themes, with Debian's Chromium and
 * the fonts of `fonts-liberation`. Run it after a change that shows.
 */
const target = new URL('../docs/console/', import.meta.url).pathname
const account = '11111111-1111-4111-8111-111111111111'
const staff = 'Operator staff'

type Picture = {
  readonly name: string
  readonly as?: string
  readonly isPhone?: true
  readonly show: (page: Page) => Promise<void>
}

const rows = '.records tr[data-id], .rows li'

const list = (name: string, query: string): Picture => ({
  name,
  show: (page) => open(page, `#/list/${name}?${query}`, rows),
})

const record = (name: string, kind: string, id: string): Picture => ({
  name,
  show: (page) => open(page, `#/record/${kind}/${id}?customer=acme`, '.timeline .dot'),
})

const shortfalls = '#/list/statements?shortfall=true&asset=USDG&order_by=SHORTFALL'

const pictures: readonly Picture[] = [
  { name: 'overview', show: (page) => open(page, '#/', '.todo li') },
  {
    name: 'find',
    show: (page) => open(page, '#/find?q=tidewell', '.hit'),
  },
  { name: 'customers', show: (page) => open(page, '#/customers', 'tbody tr') },
  { name: 'shortfalls', show: (page) => open(page, shortfalls, '.plot') },
  {
    name: 'statements',
    show: (page) => open(page, '#/list/statements?customer=acme', '.plot'),
  },
  list('fiat-accounts', 'status=PENDING'),
  list('fiat-deposit-instructions', 'customer=acme'),
  list('deposit-addresses', 'customer=acme'),
  list('issuer-quote-executions', 'customer=acme'),
  {
    name: 'account',
    show: async (page) => {
      await record('', 'fiat-accounts', account).show(page)
      await page.keyboard.press('v')
      await page.locator('canvas.qr').waitFor()
    },
  },
  record('statement', 'statements', '44444444-4444-4444-8444-444444444444'),
  record('instructions', 'fiat-deposit-instructions', '22222222-2222-4222-8222-222222222222'),
  record('quote', 'issuer-quote-executions', '55555555-5555-4555-8555-555555555555'),
  record('deposit-address', 'deposit-addresses', '33333333-3333-4333-8333-333333333333'),
  { name: 'health', show: (page) => open(page, '#/health', 'tbody tr') },
  {
    name: 'palette',
    show: async (page) => {
      await open(page, '#/list/statements?customer=acme', rows)
      await page.keyboard.press('Control+k')
      await page.keyboard.type('ves')
      await page.locator('.palette-choice .icon').first().waitFor()
      await page.waitForTimeout(600)
    },
  },
  {
    name: 'no-customer',
    show: (page) => open(page, '#/list/statements?customer=Acme', '.state'),
  },
  {
    name: 'unknown-past',
    show: (page) =>
      open(
        page,
        `#/record/fiat-accounts/${account}?customer=acme&as_of=2020-01-01T00:00:00Z`,
        '.state',
      ),
  },
  {
    name: 'fees',
    as: 'Acme',
    show: async (page) => {
      await open(page, '#/fees', 'form')
      await page.getByLabel('To address').fill('0xF0Aa84466e353E5390be37FE2934301c07c19a55')
      await page.getByText('✓ A valid address').waitFor()
      await page.getByRole('textbox', { name: 'Figure' }).fill('100')
      await page.getByRole('button', { name: 'Guarantee a fee' }).click()
      await page.locator('.sum').waitFor()
    },
  },
  { name: 'phone-overview', isPhone: true, show: (page) => open(page, '#/', '.todo li') },
  { name: 'phone-list', isPhone: true, show: (page) => open(page, shortfalls, rows) },
  {
    name: 'phone-record',
    isPhone: true,
    show: record('', 'fiat-accounts', account).show,
  },
]

async function open(page: Page, fragment: string, selector: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`)
  await page.locator(selector).first().waitFor()
  await page.waitForTimeout(500)
}

async function take(browser: Browser, theme: 'light' | 'dark'): Promise<void> {
  const ending = theme === 'dark' ? '-dark.png' : '.png'
  for (const { name, as = staff, isPhone, show } of pictures) {
    const viewport = isPhone ? { width: 390, height: 844 } : { width: 1280, height: 800 }
    const phone = isPhone ? { isMobile: true, hasTouch: true, deviceScaleFactor: 1 } : {}
    const context = await browser.newContext({ viewport, colorScheme: theme, ...phone })
    const page = await context.newPage()
    await page.goto(`${url}/console/`)
    const signIn = page.getByRole('button', { name: `Sign in as ${as}` })
    await signIn.waitFor()
    if (name === 'overview') await page.screenshot({ path: `${target}sign-in${ending}` })
    await signIn.click()
    await page.locator('#find').waitFor()
    await show(page)
    await page.screenshot({ path: `${target}${name}${ending}` })
    await context.close()
  }
}

const sandbox = spawn(
  process.execPath,
  ['packages/cli/src/main.ts', 'sandbox', '--port', '0', '--json'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
const [banner] = await once(createInterface(sandbox.stdout), 'line')
const { url } = JSON.parse(banner)
const browser = await chromium.launch({
  executablePath: process.env.BURSAR_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-background-networking'],
})
mkdirSync(target, { recursive: true })
for (const name of readdirSync(target)) rmSync(target + name)
try {
  await take(browser, 'light')
  await take(browser, 'dark')
} finally {
  await browser.close()
  sandbox.kill()
}
