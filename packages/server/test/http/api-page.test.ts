import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { describeService } from '../../../../test/support/describe-service.ts'
import { rawRequest } from '../../../../test/support/raw-request.ts'
import { apiPageScript } from '../../../../tools/api-page-script.ts'

/** The files of the API page. test/browser/api-page.test.ts uses the page in a browser. */

const service = describeService()

test('the page runs no inline script, and no other site can embed it', async () => {
  const { status, headers, text } = await rawRequest(service.url, '/docs/')
  assert.equal(status, 200)
  const policy = String(headers['content-security-policy']).split('; ')
  assert.ok(policy.includes("default-src 'none'"))
  assert.ok(policy.includes("script-src 'self'"))
  assert.ok(policy.includes("connect-src 'self'"))
  assert.ok(policy.includes("frame-ancestors 'none'"))
  const scripts = text.match(/<script(?! src=| type="application\/json"| type="module" src=)/g)
  assert.equal(scripts, null)
})

test('the script is the recorded one, is sent compressed, and is cached for a year', async () => {
  const path = `/docs/scalar-${apiPageScript.version}.js`
  const { text: page } = await rawRequest(service.url, '/docs/')
  assert.ok(page.includes(`src="scalar-${apiPageScript.version}.js"`))
  const plain = await rawRequest(service.url, path)
  assert.equal(hash('sha256', plain.bytes), apiPageScript.sha256)
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
  const coded = await rawRequest(service.url, path, {
    headers: ['accept-encoding', 'gzip, deflate, br'],
  })
  assert.equal(coded.headers['content-encoding'], 'br')
  assert.ok(coded.bytes.equals(readFileSync(apiPageScript.target)))
  const { etag = '' } = coded.headers
  const known = await rawRequest(service.url, path, { headers: ['if-none-match', etag] })
  assert.equal(known.status, 304)
})

test('/docs redirects to /docs/ by a relative URL, for a proxy that adds a path', async () => {
  const { status, headers } = await rawRequest(service.url, '/docs')
  assert.equal(status, 302)
  assert.equal(headers.location, 'docs/')
})
