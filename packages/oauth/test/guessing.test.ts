import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { limitNamed, networkOf, Secret, systemTime } from '@bursar/base'
import { type ClientWithSecrets, type CredentialStore, StoreUnavailable } from '@bursar/records'
import { pino } from 'pino'
import { turn } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { findSecret, hashSecret } from '../src/clients/client-secrets.ts'
import { unlimitedGuesses } from '../src/clients/guess-limiter.ts'
import { openWrongSecrets, type WrongSecrets } from '../src/clients/wrong-secrets.ts'
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
    // RFC 6749 defines no error of status 429, so this is a problem as everywhere.
    assert.equal(headers.get('content-type'), 'application/problem+json')
    assert.equal(body.status, 429)
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

test('checks no more of a burst of guesses than the limit, and every right secret of a burst', async (t) => {
  let lookUps = 0
  const through = (store: CredentialStore): CredentialStore => ({
    ...store,
    findClient: (id) => {
      lookUps += 1
      return store.findClient(id)
    },
  })
  const { token } = await oauthWorld(t, { through })
  const burst = async (count: number, address: string, form: Record<string, string>) => {
    const headers = { 'x-test-address': address }
    const answers = await Promise.all(Array.from({ length: count }, () => token(form, { headers })))
    return answers.map(({ status }) => status)
  }
  const guesses = await burst(100, '192.0.2.1', { client_secret: 'guess' })
  assert.equal(guesses.filter((status) => status === 401).length, 10)
  assert.equal(guesses.filter((status) => status === 429).length, 90)
  assert.equal(lookUps, 10)
  assert.deepEqual(new Set(await burst(100, '192.0.2.2', {})), new Set([200]))
})

test('limits no guesses where the secrets are public, as in the sandbox', async (t) => {
  const { token } = await oauthWorld(t, { limiter: unlimitedGuesses })
  for (let count = 0; count < 15; count += 1) {
    assert.equal((await token({ client_secret: 'guess' })).status, 401, `failure ${count}`)
  }
  assert.equal((await token()).status, 200)
})

test('counts no failure when the store cannot answer', async (t) => {
  let isDown = true
  const through = (store: CredentialStore): CredentialStore => ({
    ...store,
    findClient: (id) =>
      isDown ? Promise.reject(new StoreUnavailable('down')) : store.findClient(id),
  })
  const { token } = await oauthWorld(t, { through })
  for (let count = 0; count < 15; count += 1) assert.equal((await token()).status, 503)
  isDown = false
  assert.equal((await token()).status, 200)
})

/** Fails a number of attempts for one key. */
async function fail(wrong: WrongSecrets, key: string, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    assert.equal(await wrong.enter(key), 0)
    wrong.leave(key, 'failed')
  }
}

test('forgets failures after a minute', async () => {
  using time = takeTime()
  const wrong = openWrongSecrets(10)
  await fail(wrong, 'a', 10)
  assert.equal(await wrong.enter('a'), 60_000)
  await time.advance(59_999)
  assert.equal(await wrong.enter('a'), 1)
  await time.advance(1)
  assert.equal(await wrong.enter('a'), 0)
})

test('queues a bounded number of attempts, and lets them in as others end', async () => {
  const wrong = openWrongSecrets(2)
  assert.deepEqual([await wrong.enter('a'), await wrong.enter('a')], [0, 0])
  const waiting = Array.from({ length: limitNamed('attemptsWaitingMax') }, () => wrong.enter('a'))
  assert.equal(await wrong.enter('a'), limitNamed('attemptRetryMs'))
  assert.equal(await wrong.enter('b'), 0)
  for (let ended = 0; ended < 2 + waiting.length; ended += 1) {
    wrong.leave('a', 'succeeded')
    await turn()
  }
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set([0]))
})

test('lets one waiting attempt check again for each that ends, and all at the limit', async (t) => {
  // Each check reads the time once.
  const read = t.mock.method(systemTime, 'elapsedMs', () => 0)
  const wrong = openWrongSecrets(2)
  const waits = Array.from({ length: 30 }, () => wrong.enter('a'))
  assert.equal(read.mock.callCount(), 30)
  for (let ended = 0; ended < 20; ended += 1) {
    wrong.leave('a', 'succeeded')
    await turn()
  }
  // Each of the twenty was looked up as it left, and one other as it entered.
  assert.equal(read.mock.callCount(), 30 + 20 + 20)
  for (let failed = 0; failed < 2; failed += 1) {
    wrong.leave('a', 'failed')
    await turn()
  }
  const refused = (await Promise.all(waits)).filter((waitMs) => waitMs > 0)
  assert.equal(refused.length, 8)
})

test('lets every waiting attempt in when all in progress end at once', async () => {
  const wrong = openWrongSecrets(2)
  let entered = 0
  const attempt = async () => {
    assert.equal(await wrong.enter('a'), 0)
    entered += 1
    await turn()
    wrong.leave('a', 'succeeded')
  }
  await Promise.all(Array.from({ length: 2 + limitNamed('attemptsWaitingMax') }, attempt))
  assert.equal(entered, 2 + limitNamed('attemptsWaitingMax'))
})

test('remembers a bounded number of keys', async () => {
  const wrong = openWrongSecrets(10)
  await fail(wrong, 'a', 10)
  for (let count = 0; count < limitNamed('failureKeysMax'); count += 1)
    await fail(wrong, `b${count}`, 1)
  assert.equal(await wrong.enter('a'), 0)
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

test('does the same work for an unknown client, a wrong secret and one of two', async (t) => {
  const { store, keyring } = (await oauthWorld(t)).command
  const known = (await store.findClient(acme.id)) ?? assert.fail('no client')
  const [first] = known.secrets
  assert.ok(first !== undefined)
  const second = { ...first, id: 'two', hash: hashSecret(acme.id, new Secret('two'), keyring) }
  const both = { ...known, secrets: [first, second] }
  /** Digests that are made, and keys that are looked up. */
  const workOf = (client: ClientWithSecrets | undefined, text: string) => {
    const secret = new Secret(text)
    const digests = t.mock.method(secret, 'reveal')
    const keys = t.mock.fn(keyring.byId)
    findSecret(client, secret, { ...keyring, byId: keys }, 2n)
    return [digests.mock.callCount(), keys.mock.callCount()]
  }
  const usual = workOf(known, acme.secret)
  assert.deepEqual(usual, [1, 2])
  for (const [client, text] of [
    [undefined, 'guess'],
    [known, 'guess'],
    [both, 'guess'],
    [both, 'two'],
  ] as const) {
    assert.deepEqual(workOf(client, text), usual, `${client?.secrets.length} secrets, ${text}`)
  }
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
