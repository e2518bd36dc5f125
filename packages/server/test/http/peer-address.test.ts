import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { buildServer } from '../../src/server/build-server.ts'

/** A server whose one route answers with the caller's address, and the lines of its log. */
async function addressServer(context: TestContext, trustedProxies: readonly string[]) {
  const lines: Record<string, unknown>[] = []
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const server = await buildServer({
    idleConnectionSeconds: 620,
    log: pino({ level: 'warn' }, sink),
    corsOrigins: [],
    trustedProxies,
    routes: [
      {
        method: 'GET',
        path: '/address',
        operation: 'address',
        answer: ({ address }) => ({ status: 200, headers: {}, body: address }),
      },
    ],
  })
  context.after(server.close)
  const url = await server.listen('127.0.0.1', 0)
  const addressFor = async (forwarded?: string) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    return await (await fetch(`${url}/address`, { headers })).text()
  }
  return { addressFor, lines }
}

test('is what a trusted proxy forwards, without a port', async (t) => {
  const { addressFor, lines } = await addressServer(t, ['127.0.0.1'])
  const cases = {
    '192.0.2.1': '192.0.2.1',
    'spoofed, 192.0.2.1': '192.0.2.1',
    '192.0.2.1:4711': '192.0.2.1',
    '2001:db8::1': '2001:db8::1',
    '[2001:db8::1]:4711': '2001:db8::1',
  }
  for (const [forwarded, address] of Object.entries(cases)) {
    assert.equal(await addressFor(forwarded), address, forwarded)
  }
  assert.deepEqual(lines, [])
})

test('is the socket’s where a proxy forwards no address', async (t) => {
  const { addressFor } = await addressServer(t, ['127.0.0.1'])
  for (const forwarded of [undefined, 'unknown', 'x'.repeat(4000), '1'.repeat(300), ',']) {
    assert.equal(await addressFor(forwarded), '127.0.0.1', String(forwarded).slice(0, 20))
  }
  assert.equal(await addressFor(`${'10.0.0.1, '.repeat(600)}192.0.2.9`), '192.0.2.9')
})

test('ignores what an untrusted peer forwards, and warns of it once with the setting’s name', async (t) => {
  for (const trusted of [[], ['10.0.0.0/8']]) {
    const { addressFor, lines } = await addressServer(t, trusted)
    await addressFor()
    assert.deepEqual(lines, [])
    for (let count = 0; count < 3; count += 1) {
      assert.equal(await addressFor('192.0.2.1'), '127.0.0.1')
    }
    assert.deepEqual(
      lines.map(({ peer, setting }) => [peer, setting]),
      [['127.0.0.1', 'BURSAR_TRUSTED_PROXIES']],
    )
    assert.equal(JSON.stringify(lines).includes('192.0.2.1'), false)
  }
})
