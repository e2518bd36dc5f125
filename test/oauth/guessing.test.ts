import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { openGuessLimiter } from '../../src/oauth/clients/guess-limiter.ts'
import { limits } from '../../src/platform/limits.ts'
import { networkOf } from '../../src/values/ip-network.ts'
import { acme, oauthWorld } from './support/oauth-world.ts'

async function guessingWorld(context: TestContext) {
  const world = await oauthWorld(context)
  const from = (address: string, form: Record<string, string> = {}) =>
    world.token(form, { headers: { 'x-test-address': address } })
  const guess = (address: string, clientId = acme.id) =>
    from(address, { client_id: clientId, client_secret: 'guess' })
  return { ...world, from, guess }
}

test('limits an address after ten failures for one client, even with the right secret', async (t) => {
  const { from, guess } = await guessingWorld(t)
  for (let count = 0; count < 10; count += 1) {
    assert.equal((await guess('192.0.2.1')).status, 401, `failure ${count}`)
  }
  for (const { status, headers, body } of [await guess('192.0.2.1'), await from('192.0.2.1')]) {
    assert.equal(status, 429)
    const wait = Number(headers.get('retry-after'))
    assert(wait > 50 && wait <= 60, `${wait} s`)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.deepEqual(Object.keys(body), ['error', 'error_description'])
  }
})

test('accepts the client from any other address meanwhile', async (t) => {
  const { from, guess } = await guessingWorld(t)
  for (let count = 0; count < 15; count += 1) await guess('192.0.2.1')
  assert.equal((await from('192.0.2.2')).status, 200)
})

test('limits an address after sixty failures for any clients; a /64 counts as one address', async (t) => {
  const { from, guess } = await guessingWorld(t)
  for (let count = 0; count < 60; count += 1) {
    const { status } = await guess(`2001:db8:1:2::${count.toString(16)}`, `client_${count}`)
    assert.equal(status, 401, `failure ${count}`)
  }
  assert.equal((await from('2001:db8:1:2:ffff::1')).status, 429)
  assert.equal((await from('2001:db8:1:3::1')).status, 200)
})

test('never counts a success', async (t) => {
  const { from } = await guessingWorld(t)
  for (let count = 0; count < 80; count += 1) {
    assert.equal((await from('192.0.2.9')).status, 200, `request ${count}`)
  }
})

test('forgets failures after a minute', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'] })
  const limiter = openGuessLimiter()
  for (let count = 0; count < 10; count += 1) await limiter.countFailure('192.0.2.1', 'a')
  assert.equal(await limiter.waitSeconds('192.0.2.1', 'a'), 60)
  t.mock.timers.tick(60_001)
  assert.equal(await limiter.waitSeconds('192.0.2.1', 'a'), 0)
})

test('remembers a bounded number of addresses', async (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'] })
  const limiter = openGuessLimiter()
  for (let count = 0; count < 10; count += 1) await limiter.countFailure('192.0.2.1', 'a')
  for (let count = 0; count < limits.failureKeysMax; count += 1)
    await limiter.countFailure(`a${count}`, 'b')
  assert.equal(await limiter.waitSeconds('192.0.2.1', 'a'), 0)
})

test('maps an IPv6 address to its /64 network', () => {
  const cases = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::1': '0:0:0:0::/64',
    '::': '0:0:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    '2001:DB8:0:1::5': '2001:db8:0:1::/64',
    '2001:db8:0:1:0:0:0:5': '2001:db8:0:1::/64',
    '2001:0db8:0000:0001:1:2:3:4': '2001:db8:0:1::/64',
    '2001:db8:0:1:2:3:192.0.2.1': '2001:db8:0:1::/64',
  }
  for (const [address, network] of Object.entries(cases)) {
    assert.equal(networkOf(address), network, address)
  }
})

test('spends the same time on an unknown client and on a wrong secret', async (t) => {
  const { from } = await guessingWorld(t)
  const rounds = 300
  const times: Record<string, number[]> = { known: [], unknown: [] }
  for (let round = 0; round < rounds; round += 1) {
    for (const [kind, client_id] of [
      ['known', acme.id],
      ['unknown', 'client_none'],
    ] as const) {
      const began = performance.now()
      await from(`10.0.${round >> 8}.${round & 255}`, { client_id, client_secret: 'guess' })
      times[kind]?.push(performance.now() - began)
    }
  }
  const median = (kind: string) => times[kind]?.sort((a, b) => a - b)[rounds / 2] ?? 0
  const ratio = median('known') / median('unknown')
  t.diagnostic(`known ${median('known').toFixed(3)} ms, unknown ${median('unknown').toFixed(3)} ms`)
  assert(ratio > 0.7 && ratio < 1.4, `ratio ${ratio}`)
})

test('logs issued and refused tokens, and never a secret or a token', async (t) => {
  const lines: string[] = []
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk))
      done()
    },
  })
  const { token } = await oauthWorld(t, { log: pino({ level: 'trace', base: null }, sink) })
  const { access_token } = (await token()).body
  await token({ client_secret: 'canary_guess' })
  await token({ client_id: 'canary_secret_in_the_wrong_field' })
  const events = lines
    .map((line) => JSON.parse(line))
    .map(({ client, outcome }) => [client, outcome])
  assert.deepEqual(events, [
    [acme.id, 'issued'],
    [acme.id, 'refused'],
    [undefined, 'refused'],
  ])
  for (const secret of [acme.secret, access_token, 'canary']) {
    assert(!lines.join().includes(secret), secret)
  }
})
