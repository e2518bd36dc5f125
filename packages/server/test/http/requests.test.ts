import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme } from '../../../../test/support/harness.ts'
import { longTest } from '../../../../test/support/long.ts'
import { rawSocket } from '../../../../test/support/raw-request.ts'
import { cutForwardedFor } from '../../src/server/bound-request.ts'

/** Valid HTTP that ordinary clients do not send. */

let bearer: string

const service = describeService({}, async () => {
  bearer = `authorization: Bearer ${await service.tokenOf(acme)}`
})

const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`
const accounts = '/v2/transfer/fiat-accounts?limit=1'

const statusesOf = (received: string): number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

describe('a request', () => {
  test('that is pipelined is answered in order', async () => {
    const one = head(`GET ${accounts} HTTP/1.1`, 'host: x', bearer)
    const two = head('GET /healthz HTTP/1.1', 'host: x')
    const last = head('GET /nowhere HTTP/1.1', 'host: x', 'connection: close')
    const received = await rawSocket(service.url, one + two + last)
    assert.deepEqual(statusesOf(received), [200, 200, 404])
  })

  test('that arrives byte by byte is answered', async () => {
    const { hostname, port } = new URL(service.url)
    const received = await new Promise<string>((resolve) => {
      let text = ''
      const socket = connect(Number(port), hostname, async () => {
        for (const byte of head(
          `GET ${accounts} HTTP/1.1`,
          'host: x',
          bearer,
          'connection: close',
        )) {
          await new Promise((written) => socket.write(byte, written))
        }
      })
      socket.setEncoding('utf8').on('data', (more) => {
        text += more
      })
      socket.on('close', () => resolve(text))
    })
    assert.deepEqual(statusesOf(received), [200])
  })

  test('of HTTP/1.0 needs no Host', async () => {
    const received = await rawSocket(service.url, head(`GET ${accounts} HTTP/1.0`, bearer))
    assert.deepEqual(statusesOf(received), [200])
  })

  test('that names another host never puts it into the answer', async () => {
    const targets = [
      head(
        'GET http://evil.example/.well-known/openid-configuration HTTP/1.1',
        'host: x',
        'connection: close',
      ),
      head(
        'GET /.well-known/openid-configuration HTTP/1.1',
        'host: evil.example',
        'connection: close',
      ),
    ]
    for (const target of targets) {
      const received = await rawSocket(service.url, target)
      const [status = 0] = statusesOf(received)
      assert.ok([200, 404].includes(status), received)
      if (status === 200) assert.doesNotMatch(received, /evil/)
    }
  })

  test('in absolute form is read as the path that it names', async () => {
    const ask = (method: string, target: string) =>
      rawSocket(
        service.url,
        head(`${method} ${target} HTTP/1.1`, 'host: x', bearer, 'connection: close'),
      )
    for (const origin of ['http://x', 'HTTPS://user@other.example:1']) {
      assert.deepEqual(statusesOf(await ask('GET', `${origin}${accounts}`)), [200])
      const refused = await ask('DELETE', `${origin}/v2/statements`)
      assert.deepEqual(statusesOf(refused), [405])
      assert.match(refused, /allow: GET, HEAD[\s\S]*"instance":"\/v2\/statements"/i)
      for (const target of [origin, `${origin}?a=1`]) {
        assert.deepEqual(statusesOf(await ask('GET', target)), [302])
      }
    }
  })

  test('with target * is answered as a problem', async () => {
    const received = await rawSocket(
      service.url,
      head('OPTIONS * HTTP/1.1', 'host: x', 'connection: close'),
    )
    assert.match(received, /^HTTP\/1\.1 4\d\d /)
    assert.match(received, /application\/problem\+json/)
  })

  test('to upgrade to a WebSocket is answered as plain HTTP', async () => {
    const received = await rawSocket(
      service.url,
      head('GET /healthz HTTP/1.1', 'host: x', 'upgrade: websocket', 'connection: upgrade, close'),
    )
    assert.deepEqual(statusesOf(received), [200])
  })

  test('of GET with a body is answered as without it', async () => {
    const body = '{"customer_id":"borealis"}'
    const received = await rawSocket(
      service.url,
      `${head(`GET ${accounts} HTTP/1.1`, 'host: x', bearer, `content-length: ${body.length}`, 'connection: close')}${body}`,
    )
    assert.deepEqual(statusesOf(received), [200])
  })

  test('of many proxies is known by the addresses that the last ones appended', () => {
    const headers = { 'x-forwarded-for': `${'203.0.113.1, '.repeat(5000)}198.51.100.7, 10.0.0.1` }
    cutForwardedFor(headers)
    const addresses = headers['x-forwarded-for'].split(', ')
    assert.deepEqual(addresses.slice(-2), ['198.51.100.7', '10.0.0.1'])
    assert.deepEqual(
      new Set(addresses.slice(0, -2).map((each) => each.trim())),
      new Set(['203.0.113.1']),
    )
    assert.ok(headers['x-forwarded-for'].length <= 512)
  })

  longTest('that is never completed is answered 408 as a problem', async () => {
    const halves = [
      'GET /healthz HTTP/1.1\r\nhost: x\r\n',
      head('POST /oauth2/token HTTP/1.1', 'host: x', 'content-length: 10'),
    ]
    for (const received of await Promise.all(halves.map((half) => rawSocket(service.url, half)))) {
      assert.deepEqual(statusesOf(received), [408])
      assert.match(received, /application\/problem\+json/)
    }
  })
})
