import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { chromium, type Page } from 'playwright-core'

/**
 * Takes the pictures of docs/console.md from a sandbox, with Debian's Chromium. Run it after a
 * change that shows.
 */
const target = new URL('../docs/console/', import.meta.url).pathname
const port = '18099'
const url = `http://127.0.0.1:${port}`
const account = '11111111-1111-4111-8111-111111111111'

const screens: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  find: async (page) => {
    await page.locator('#find').fill('12b8d131-9fb4-49c2-ada0-d111c35dd757')
    await page.keyboard.press('Enter')
    await page.locator('.hits tbody tr').first().waitFor()
  },
  statements: (page) => showList(page, 'statements'),
  'fiat-accounts': (page) => showList(page, 'fiat-accounts'),
  'fiat-deposit-instructions': (page) => showList(page, 'fiat-deposit-instructions'),
  'deposit-addresses': (page) => showList(page, 'deposit-addresses'),
  'issuer-quote-executions': (page) => showList(page, 'issuer-quote-executions'),
  account: async (page) => {
    await open(page, `#/record/fiat-accounts/${account}?customer=acme`)
    await page.getByRole('button', { name: 'Show full account number' }).click()
    await page.locator('.slip canvas').waitFor()
  },
  history: async (page) => {
    await changeAccount()
    await open(page, `#/record/fiat-accounts/${account}?customer=acme&as_of=`)
    await page.getByRole('button', { name: 'Show history' }).click()
    await page.locator('.changes ins').first().waitFor()
    await page.locator('.versions').scrollIntoViewIfNeeded()
  },
  health: async (page) => {
    await open(page, '#/health')
    await page.locator('.card').first().waitFor()
  },
  fees: async (page) => {
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in as Acme' }).click()
    await page.locator('#find').waitFor()
    await open(page, '#/fees')
    await page.getByLabel('To address').fill('0xF0Aa84466e353E5390be37FE2934301c07c19a55')
    await page.getByText('✓ A valid address').waitFor()
    await page.getByRole('textbox', { name: 'Figure' }).fill('100')
    await page.getByRole('button', { name: 'Guarantee a fee' }).click()
    await page.getByText('102.99 USDC').waitFor()
  },
}

const open = (page: Page, fragment: string) => page.goto(`${url}/console/${fragment}`)

async function showList(page: Page, kind: string): Promise<void> {
  await open(page, `#/list/${kind}?customer=acme`)
  await page.locator('.scroll tbody tr').first().waitFor()
  const chart = page.getByText(/^Chart of the/)
  if ((await chart.count()) > 0) await chart.click()
}

/** Gives an account a second version, by the sandbox's own call. */
async function changeAccount(): Promise<void> {
  const path = `${url}/sandbox/records/fiat-accounts`
  const secret = Buffer.from('console_sandbox:bursar_sandbox_secret_of_the_console')
  const answer = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${secret.toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token: token } = (await answer.json()) as { readonly access_token: string }
  const stored = await fetch(`${url}/ingest/v1/fiat-accounts/${account}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const record = (await stored.json()) as object
  const changed = { ...record, status: 'PENDING', updated_at: '2026-11-01T09:30:00Z' }
  const put = await fetch(path, { method: 'PUT', body: `${JSON.stringify(changed)}\n` })
  if (!put.ok) throw new Error(await put.text())
}

const sandbox = spawn(process.execPath, ['src/main.ts', 'sandbox', '--port', port], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
await once(sandbox.stdout, 'data')
const browser = await chromium.launch({
  executablePath: process.env.BURSAR_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-background-networking'],
})
mkdirSync(target, { recursive: true })
const page = await browser.newPage({ viewport: { width: 1000, height: 600 } })
await page.goto(`${url}/console/`)
await page.screenshot({ path: `${target}sign-in.png` })
await page.getByRole('button', { name: 'Sign in as Operator staff' }).click()
for (const [name, show] of Object.entries(screens)) {
  await page.locator('.top').waitFor()
  await show(page)
  await page.screenshot({ path: `${target}${name}.png` })
}
await browser.close()
sandbox.kill()
