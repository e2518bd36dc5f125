import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, type TestService } from '../../../../test/support/harness.ts'
import { rawRequest, rawSocket } from '../../../../test/support/raw-request.ts'

const allowed = 'https://app.example'
const path = '/v2/transfer/fiat-accounts?limit=1'

const open = describeService({
  env: {
    BURSAR_CORS_ORIGINS: `${allowed},https://other.example`,
    BURSAR_REQUESTS_PER_SECOND_MAX: '1000',
  },
})
const closed = describeService()

const corsHeaders = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')))

const get = async (service: TestService, origin: string, token = true) =>
  rawRequest(service.url, path, {
    headers: [
      'origin',
      origin,
      ...(token ? ['authorization', `Bearer ${await service.tokenOf(acme)}`] : []),
    ],
  })

/** The request that a browser sends before one with a token. */
const preflight = (service: TestService, origin: string) =>
  rawRequest(service.url, path, {
    method: 'OPTIONS',
    headers: [
      'origin',
      origin,
      'access-control-request-method',
      'GET',
      'access-control-request-headers',
      'authorization',
    ],
  })

describe('without configured origins', () => {
  test('no other origin is allowed', async () => {
    const answer = await get(closed, allowed)
    assert.equal(answer.status, 200)
    assert.deepEqual(corsHeaders(answer.headers), {})
    const asked = await preflight(closed, allowed)
    assert.equal(asked.status, 405)
    assert.deepEqual(corsHeaders(asked.headers), {})
  })
})

describe('with configured origins', () => {
  test('each of them is allowed and may read the exposed headers', async () => {
    for (const origin of [allowed, 'https://other.example']) {
      const answer = await get(open, origin)
      assert.equal(answer.status, 200, origin)
      assert.equal(answer.headers['access-control-allow-origin'], origin)
      assert.equal(answer.headers['access-control-allow-credentials'], undefined)
      assert.match(String(answer.headers.vary), /origin/i)
      const exposed = String(answer.headers['access-control-expose-headers']).toLowerCase()
      for (const name of [
        'etag',
        'x-request-id',
        'retry-after',
        'www-authenticate',
        'x-ignored-parameters',
        'x-joined-parameters',
      ]) {
        assert.ok(exposed.includes(name), name)
      }
    }
  })

  test('each of them may read every header of a page that is about the answer', async () => {
    const headers = ['origin', allowed, 'authorization', `Bearer ${await open.tokenOf(acme)}`]
    const { status, headers: answered } = await rawRequest(open.url, `${path}&x=1`, { headers })
    assert.equal(status, 200)
    const exposed = String(answered['access-control-expose-headers']).split(', ')
    // The Fetch standard shows a page the first line; the others are about the connection.
    const readable = ['cache-control', 'content-length', 'content-type', ...exposed]
    const ofConnection = ['connection', 'date', 'vary', 'x-content-type-options']
    const hidden = Object.keys(answered).filter(
      (name) => !readable.includes(name) && !name.startsWith('access-control-'),
    )
    assert.deepEqual(hidden.sort(), ofConnection)
    assert.ok('as-of' in answered && 'x-ignored-parameters' in answered)
  })

  test('each of them may read problems', async () => {
    const answer = await get(open, allowed, false)
    assert.equal(answer.status, 401)
    assert.equal(answer.headers['access-control-allow-origin'], allowed)
  })

  test('each of them may read every refusal, whoever refuses', async () => {
    const host = 'host: x'
    const refused: readonly (readonly [status: number, ...lines: string[]])[] = [
      [400, 'GET /%zz HTTP/1.1', host],
      [400, 'GET / HTTP/1.1', 'host: a b'],
      [400, 'GET / HTTP/1.1', host, ': no name'],
      [400, 'GET / HTTP/9', host],
      [404, 'GET /nothing HTTP/1.1', host],
      [405, 'DELETE /v2/statements HTTP/1.1', host],
      [405, 'CONNECT a:1 HTTP/1.1', host],
      [413, 'POST /oauth2/token HTTP/1.1', host, 'content-length: 999999'],
      [431, `GET /${'x'.repeat(10_000)} HTTP/1.1`, host],
      [415, 'POST /oauth2/token HTTP/1.1', host, 'content-encoding: gzip', 'content-length: 1'],
      [417, 'GET / HTTP/1.1', host, 'expect: a miracle'],
      [431, 'GET / HTTP/1.1', host, ...Array.from({ length: 250 }, (_, at) => `x-${at}: 1`)],
      [431, 'GET / HTTP/1.1', host, `x: ${'x'.repeat(80_000)}`],
      [501, 'MIRACLE / HTTP/1.1', host],
      [501, 'POST /oauth2/token HTTP/1.1', host, 'transfer-encoding: gzip, chunked'],
    ]
    for (const [status, line, ...headers] of refused) {
      const text = `${[line, 'connection: close', ...headers, `Origin: ${allowed}`].join('\r\n')}\r\n\r\n`
      const answer = await rawSocket(open.url, text)
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), text.slice(0, 60))
      const [vary] = /^vary: .*$/im.exec(answer) ?? []
      assert.match(String(vary), /origin/, text.slice(0, 60))
      assert.ok(answer.includes(`access-control-allow-origin: ${allowed}\r\n`), answer)
      const foreign = await rawSocket(open.url, text.replace(allowed, 'https://evil.example'))
      assert.ok(!foreign.includes('access-control-allow-origin'), foreign)
    }
  })

  test('a preflight of any path is answered', async () => {
    const answer = await rawRequest(open.url, '/nothing', {
      method: 'OPTIONS',
      headers: ['origin', allowed, 'access-control-request-method', 'GET'],
    })
    assert.equal(answer.status, 204)
    assert.equal(answer.headers['access-control-allow-origin'], allowed)
  })

  test('a preflight needs no token and allows the Authorization header', async () => {
    const answer = await preflight(open, allowed)
    assert.equal(answer.status, 204)
    assert.equal(answer.text, '')
    assert.equal(answer.headers['access-control-allow-origin'], allowed)
    assert.match(String(answer.headers['access-control-allow-methods']), /\bGET\b/)
    assert.match(String(answer.headers['access-control-allow-headers']), /\bauthorization\b/i)
  })

  test('every other origin is refused', async () => {
    const others = [
      'https://evil.example',
      'http://app.example',
      'https://app.example.evil.example',
      'https://app.example:8443',
      'https://APP.example ',
      'null',
      '*',
    ]
    for (const origin of others) {
      const answer = await get(open, origin)
      assert.equal(answer.headers['access-control-allow-origin'], undefined, origin)
      const asked = await preflight(open, origin)
      assert.equal(asked.headers['access-control-allow-origin'], undefined, origin)
    }
  })
})
