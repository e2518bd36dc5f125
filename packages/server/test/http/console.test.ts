import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { CryptoNetwork } from '@bursar/base'
import { describeService } from '../../../../test/support/describe-service.ts'
import { rawRequest } from '../../../../test/support/raw-request.ts'
import { encodeSolanaAddress } from '../../../fees/src/addresses/solana-address.ts'
import { encodeStellarAddress } from '../../../fees/src/addresses/stellar-address.ts'

/** What the console costs and what it may do. */

const service = describeService()
const SCRIPT_BYTES_MAX = 200_000

test(`all scripts have at most ${SCRIPT_BYTES_MAX} bytes, compressed`, () => {
  const assets = new URL('../../src/documents/console/assets/', import.meta.url)
  const scripts = readdirSync(assets).filter((name) => name.endsWith('.js.br'))
  const bytes = scripts.map((name) => readFileSync(new URL(name, assets)).length)
  const sum = bytes.reduce((total, own) => total + own, 0)
  assert.ok(sum > 0 && sum <= SCRIPT_BYTES_MAX, `${sum}`)
})

test('the page runs no inline script or style, and asks this server only', async () => {
  const { status, headers, text } = await rawRequest(service.url, '/console/')
  assert.equal(status, 200)
  const policy = String(headers['content-security-policy'])
  assert.ok(!policy.includes('unsafe'), policy)
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]) {
    assert.ok(policy.split('; ').includes(rule), rule)
  }
  assert.equal(text.match(/<script(?! type="application\/json"| type="module" src=)/g), null)
  assert.ok(!/(src|href)="https?:/.test(text))
})

test('scripts are sent compressed and cached for a year, the page is requested again', async () => {
  const { url } = service
  const { headers, text } = await rawRequest(url, '/console/')
  assert.equal(headers['cache-control'], 'no-cache')
  const [, script = ''] = /href="(open-root[^"]+)"/.exec(text) ?? []
  const coded = await rawRequest(url, `/console/${script}`, { headers: ['accept-encoding', 'br'] })
  assert.equal(coded.headers['content-encoding'], 'br')
  assert.equal(coded.headers['cache-control'], 'public, max-age=31536000, immutable')
  const plain = await rawRequest(url, `/console/${script}`)
  assert.equal(plain.headers['content-encoding'], undefined)
  assert.match(String(plain.headers['content-type']), /^text\/javascript/)
  const licences = await rawRequest(url, '/console/licenses.txt')
  assert.match(licences.text, /^react-dom /m)
})

test('the check of an address tells what the quote would, and needs every member', async () => {
  const check = (body: object) =>
    service.call('/console/check-address', { as: null, method: 'POST', body: JSON.stringify(body) })
  const address = '0xF0Aa84466e353E5390be37FE2934301c07c19a55'
  const right = await check({ crypto_network: 'ETHEREUM', destination_address: address })
  assert.deepEqual([right.status, right.body], [200, { valid: true }])
  const wrong = await check({ crypto_network: 'BITCOIN', destination_address: address })
  assert.equal(wrong.body.valid, false)
  assert.ok(!wrong.text.includes(address))
  assert.equal((await check({ crypto_network: 'ETHEREUM' })).status, 400)
  assert.equal((await check({ crypto_network: 'MOON', destination_address: 'x' })).status, 400)
})

test('the check of an address and the quote give the same verdict', async () => {
  const named: Readonly<Record<string, CryptoNetwork>> = {
    XLM: 'STELLAR',
    USDC: 'STELLAR',
    SOL: 'SOLANA',
    USDG: 'SOLANA',
    BTC: 'BITCOIN',
    ETH: 'ETHEREUM',
  }
  const offCurve = Buffer.from(
    '6fd43ea30d72d741a61075da44a91378dd47ac167be04aaf197ee34db21c81e6',
    'hex',
  )
  const smallOrder = Buffer.from(
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'hex',
  )
  const issuer = 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN'
  const addresses = [
    ...[offCurve, smallOrder].flatMap((key) => [
      encodeStellarAddress(key),
      encodeStellarAddress(key, 9n),
      encodeSolanaAddress(key),
    ]),
    issuer,
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hczuqqsrsfxh',
    '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
  ]
  const faults = new Set<string>()
  for (const [asset, crypto_network] of Object.entries(named)) {
    for (const destination_address of addresses) {
      const asked = { asset, crypto_network, destination_address }
      const [verdict, quote] = await Promise.all([
        service.call('/console/check-address', {
          as: null,
          method: 'POST',
          body: JSON.stringify(asked),
        }),
        service.call('/v2/transfer/fees/crypto-withdrawal', {
          method: 'POST',
          body: JSON.stringify({ ...asked, amount: '1000' }),
        }),
      ])
      const { valid, detail } = verdict.body
      faults.add(quote.body.meta?.fault)
      const refusal = quote.status === 200 ? undefined : quote.body.detail
      const expected = valid ? undefined : `destination_address is refused: ${detail}`
      assert.equal(refusal, expected, `${asset} on ${crypto_network} to ${destination_address}`)
    }
  }
  for (const fault of ['off_curve', 'no_key', 'token_issuer', 'token_contract']) {
    assert.ok(faults.has(fault), fault)
  }
})
