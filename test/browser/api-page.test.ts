import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { chromiumFlags, chromiumPath, isChromiumMissing } from '../support/chromium.ts'
import { startTestService } from '../support/harness.ts'
import { longTest } from '../support/long.ts'
import { rawRequest } from '../support/raw-request.ts'
import { axeFaults } from './support/browse.ts'

/** The service knows itself by another name than the browser: a mapped port of `localhost`. */
async function startMapped() {
  const service = await startTestService()
  const port = Number(new URL(service.url).port)
  const mapped = createServer((outside) => {
    const inside = connect(port, '127.0.0.1')
    outside.pipe(inside).pipe(outside)
    for (const socket of [outside, inside]) {
      socket.on('error', () => {
        outside.destroy()
        inside.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(mapped, 'listening')
  const address = mapped.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    origin: `http://localhost:${address.port}`,
    knownAs: service.url,
    stop: async () => {
      mapped.close()
      await service.stop()
    },
  }
}

let mapped: Awaited<ReturnType<typeof startMapped>>
before(async () => {
  mapped = await startMapped()
})
after(() => mapped.stop())

describe('the API page', { skip: isChromiumMissing ? `${chromiumPath} is missing` : false }, () => {
  let browser: Browser
  let page: Page
  const requested: URL[] = []
  const errors: string[] = []

  before(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumFlags })
    page = await browser.newPage({ viewport: { width: 1400, height: 1000 } })
    page.setDefaultTimeout(60_000)
    page.on('request', (request) => requested.push(new URL(request.url())))
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (message) => {
      // Browsers request /favicon.ico by themselves.
      const isIcon = message.location().url.endsWith('/favicon.ico')
      if (message.type() === 'error' && !isIcon) errors.push(message.text())
    })
    await page.goto(`${mapped.origin}/docs`, { waitUntil: 'networkidle' })
  })
  after(() => browser.close())

  test('shows every tag of the document', async () => {
    const document = JSON.parse((await rawRequest(mapped.origin, '/openapi.json')).text)
    assert.equal(document.servers[0].url, mapped.knownAs)
    assert.match(await page.title(), /Bursar/)
    for (const { name } of document.tags) {
      await page.getByText(name, { exact: true }).first().waitFor({ state: 'attached' })
    }
  })

  test('has no fault of accessibility that axe finds', async () => {
    await page.locator('.code-input-lite__editor').first().waitFor()
    assert.deepEqual(await axeFaults(page), [])
  })

  test('gets a token, sends an authorised request and shows the answer', async () => {
    await page.getByRole('button', { name: 'Select All' }).first().click()
    const tokens = page.waitForResponse(`${mapped.origin}/oauth2/token`)
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

  longTest('has no fault in the dialog of a request, in the dark, and further down', async () => {
    assert.deepEqual(await axeFaults(page), [])
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.reload({ waitUntil: 'networkidle' })
    for (let turn = 0; turn < 10; turn += 1) {
      await page.mouse.move(700, 500)
      await page.mouse.wheel(0, 4000)
      await page.waitForLoadState('networkidle')
    }
    assert.deepEqual(await axeFaults(page), [])
  })

  longTest('has no fault on the problem pages either', async () => {
    for (const path of ['/problems', '/problems/fee-mismatched']) {
      const problems = await browser.newPage()
      await problems.goto(`${mapped.origin}${path}`)
      assert.deepEqual(await axeFaults(problems), [], path)
      await problems.close()
    }
  })

  test('requests nothing from other hosts and logs no error', () => {
    const own = new URL(mapped.origin).host
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
