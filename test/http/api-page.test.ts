import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { startTestService, type TestService } from '../support/harness.ts'

const chromiumPath = process.env.BURSAR_CHROMIUM ?? '/usr/bin/chromium'
const isMissing = !existsSync(chromiumPath)
if (isMissing && process.env.CI === 'true') {
  throw new Error(`${chromiumPath} is missing; CI must not skip the API page`)
}

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

describe('the API page', { skip: isMissing ? `${chromiumPath} is missing` : false }, () => {
  let service: TestService
  let browser: Browser
  let page: Page
  const requested: URL[] = []
  const errors: string[] = []

  before(async () => {
    service = await startTestService()
    browser = await chromium.launch({ executablePath: chromiumPath, args: flags })
    page = await browser.newPage({ viewport: { width: 1400, height: 1000 } })
    page.setDefaultTimeout(10_000)
    page.on('request', (request) => requested.push(new URL(request.url())))
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (message) => {
      // Browsers request /favicon.ico by themselves.
      const isIcon = message.location().url.endsWith('/favicon.ico')
      if (message.type() === 'error' && !isIcon) errors.push(message.text())
    })
    await page.goto(`${service.url}/docs`, { waitUntil: 'networkidle' })
  })
  after(async () => {
    await browser.close()
    await service.stop()
  })

  test('shows every tag of the document', async () => {
    const document = (await service.call('/openapi.json', { as: null })).body
    assert.match(await page.title(), /Bursar/)
    for (const { name } of document.tags) {
      await page.getByText(name, { exact: true }).first().waitFor({ state: 'attached' })
    }
  })

  test('gets a token, sends an authorised request and shows the answer', async () => {
    await page.getByRole('button', { name: 'Select All' }).first().click()
    const tokens = page.waitForResponse(`${service.url}/oauth2/token`)
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    assert.equal((await tokens).status(), 200)
    await page
      .getByRole('button', { name: /Test Request.*\/v2\/transfer\/fiat-accounts\)/s })
      .first()
      .click()
    const answers = page.waitForResponse((response) => response.url().includes('/v2/transfer/'))
    await page.getByRole('button', { name: /^Send/ }).first().click()
    const answer = await answers
    assert.equal(answer.status(), 200)
    assert.match(String(await answer.request().headerValue('authorization')), /^Bearer \S+$/)
    await page.getByText('200 OK').first().waitFor()
    // The examples of the parameters, which the page fills in, select this account.
    const id = '11111111-1111-4111-8111-111111111111'
    assert.ok(answer.url().includes(`ids=${id}`), answer.url())
    await page.getByText(id).filter({ visible: true }).first().waitFor()
  })

  test('requests nothing from other hosts and logs no error', () => {
    const own = new URL(service.url).host
    const others = requested.filter(
      ({ protocol, host }) => !['data:', 'blob:'].includes(protocol) && host !== own,
    )
    assert.ok(requested.length > 1)
    assert.deepEqual(
      others.map(({ href }) => href),
      [],
    )
    assert.deepEqual(errors, [])
  })
})
