import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { type Browser, chromium, type Page } from 'playwright-core'
import { chromiumFlags, chromiumPath, isChromiumMissing } from '../support/chromium.ts'
import { acme, startTestService, type TestService } from '../support/harness.ts'

const SIZE_MAX = 7000

const source = new URL('../../sdk/src/index.ts', import.meta.url).pathname

/** The package, as a bundler packs it for a page. */
async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  })
  return outputFiles[0]?.text ?? ''
}

const bundled = await bundle()

test('the package is less than 7 kB, minified and compressed', (t) => {
  const { length } = gzipSync(bundled, { level: 9 })
  t.diagnostic(`${length} bytes`)
  assert.ok(bundled.includes('/v2/issuer-quotes'))
  assert.ok(length < SIZE_MAX, `${length} bytes`)
})

describe('in Chromium, on a page of another origin', {
  skip: isChromiumMissing ? `${chromiumPath} is missing` : false,
}, () => {
  let service: TestService
  let site: Server
  let browser: Browser
  let page: Page

  before(async () => {
    site = createServer((request, response) => {
      const isScript = request.url === '/client.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? bundled : '<!doctype html><title>site</title>')
    }).listen(0, '127.0.0.1')
    await once(site, 'listening')
    const address = site.address()
    assert.ok(typeof address === 'object' && address !== null)
    const origin = `http://127.0.0.1:${address.port}`
    service = await startTestService({ env: { BURSAR_CORS_ORIGINS: origin } })
    browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumFlags })
    page = await browser.newPage()
    await page.goto(origin)
  })
  after(async () => {
    await browser.close()
    await service.stop()
    site.close()
  })

  /** Runs the body of an async function in the page, where `bursar` is a client. */
  const runInPage = async (body: string, options = ''): Promise<unknown> =>
    page.evaluate(`(async () => {
      const sdk = await import('/client.js')
      const bursar = sdk.createBursar({
        baseUrl: '${service.url}',
        clientId: '${acme.clientId}',
        clientSecret: '${acme.clientSecret}',
        ${options}
      })
      ${body}
    })()`)

  test('it walks all pages of a list', async () => {
    const { body } = await service.call('/v2/issuer-quotes?limit=1000')
    const read = await runInPage(`
      const ids = []
      for await (const { id } of bursar.issuerQuotes.list({ limit: 50 })) ids.push(id)
      return ids`)
    assert.deepEqual(
      read,
      body.issuer_quote_executions.map(({ id }: { id: string }) => id),
    )
  })

  test('it uses a token that the page got elsewhere, and quotes a fee', async () => {
    const token = await service.tokenOf(acme)
    const total = await runInPage(
      `const fee = await bursar.cryptoWithdrawalFees.create({
        asset: 'USDC',
        crypto_network: 'ETHEREUM',
        destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
        amount: '100',
      })
      return fee.total`,
      `fetchToken: async () => ({ access_token: '${token}', expires_in: 900 }),`,
    )
    assert.equal(total, '102.99')
  })

  test('it throws typed errors with the id of the request', async () => {
    const told = await runInPage(`
      const error = await bursar.fiatAccounts.get('no-uuid').catch((error) => error)
      return [error instanceof sdk.BadRequestError, error.name, error.errors[0].code, error.requestId.length]`)
    assert.deepEqual(told, [true, 'BadRequestError', 'malformed', 36])
  })

  test('it ends at once when its signal is aborted', async () => {
    const told = await runInPage(`
      const signal = AbortSignal.abort('enough')
      return bursar.fiatAccounts.list({}, { signal })[Symbol.asyncIterator]().next().catch((reason) => reason)`)
    assert.equal(told, 'enough')
  })

  test('it repeats a read whose connection fails', async () => {
    let failures = 2
    await page.route(`${service.url}/v2/**`, (route) => {
      failures -= 1
      return failures >= 0 ? route.abort('connectionreset') : route.continue()
    })
    const id = await runInPage(
      `return (await bursar.fiatAccounts.get('11111111-1111-4111-8111-111111111111')).id`,
      'retryDelayMs: 1,',
    )
    assert.equal(id, '11111111-1111-4111-8111-111111111111')
    assert.equal(failures, -1)
  })
})
