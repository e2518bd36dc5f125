import assert from 'node:assert/strict'
import { createHmac, type KeyObject } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { limitNamed, openBackground } from '@bursar/base'
import type { CredentialStore } from '@bursar/records'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { disableClient, rotateClient } from '../src/clients/clients.ts'
import { openCredentialCache } from '../src/tokens/credential-cache.ts'
import { issueToken } from '../src/tokens/own-token.ts'
import { assertAccepted, assertRefused } from './support/assert-checked.ts'
import { issuer, log, signingWorld } from './support/signing-world.ts'

const readFiat = 'transfer:read_fiat_account'

/** One client, its valid claims, and a function that signs any claims with the server's key. */
async function forgeryWorld(context: TestContext) {
  const world = await signingWorld(context)
  const client = await world.sample('client_acme')
  const key = world.cache.current().signingKeys.get(world.keyring.current('token-signing').id)
  assert(key !== undefined)
  const now = Number(world.clock() / 1_000_000n)
  const claims: JWTPayload = {
    iss: issuer,
    aud: issuer,
    sub: client.id,
    client_id: client.id,
    scope: readFiat,
    jti: 'jti-1',
    iat: now,
    exp: now + 900,
  }
  const header = { alg: 'ES256', typ: 'at+jwt', kid: key.id }
  const sign = (
    changes: object,
    headerChanges: object = {},
    signer: KeyObject | CryptoKey = key.privateKey,
  ) =>
    new SignJWT({ ...claims, ...changes })
      .setProtectedHeader({ ...header, ...headerChanges })
      .sign(signer)
  const byHand = (headerChanges: object, signature: (signed: string) => string) => {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const signed = `${encode({ ...header, ...headerChanges })}.${encode(claims)}`
    return `${signed}.${signature(signed)}`
  }
  return { ...world, client, key, now, sign, byHand }
}

test('returns client, tenant and scopes of a valid token, with the tenant of the local table', async (t) => {
  const { sign, tokenCheck } = await forgeryWorld(t)
  const token = await sign({ customer_id: 'globex', tenant: 'globex' })
  assert.deepEqual(await tokenCheck.checkToken(token), {
    clientId: 'client_acme',
    tenant: 'acme',
    scopes: new Set([readFiat]),
  })
})

test('answers a cached token synchronously', async (t) => {
  const { sign, tokenCheck } = await forgeryWorld(t)
  const token = await sign({})
  const first = await tokenCheck.checkToken(token)
  assert.equal(tokenCheck.checkToken(token), first)
})

test('grants only scopes that the token names and the client still has', async (t) => {
  const { sign, tokenCheck } = await forgeryWorld(t)
  const token = await sign({ scope: `${readFiat} statements:read_statement unknown:scope` })
  const principal = await tokenCheck.checkToken(token)
  assertAccepted(principal)
  assert.deepEqual([...principal.scopes], [readFiat])
})

const badClaims: Readonly<Record<string, object>> = {
  'another issuer': { iss: 'https://evil.example' },
  'an issuer that begins like ours': { iss: `${issuer}.evil.example` },
  'an array of issuers': { iss: [issuer] },
  'no issuer': { iss: undefined },
  'another audience': { aud: 'https://other.example' },
  'an audience that begins like ours': { aud: `${issuer}/` },
  'two audiences': { aud: [issuer, 'https://other.example'] },
  'our audience in an array': { aud: [issuer] },
  'no audience': { aud: undefined },
  'no expiry': { exp: undefined },
  'an expiry in text': { exp: '9999999999' },
  'no time of issue': { iat: undefined },
  'no token id': { jti: undefined },
  'an empty token id': { jti: '' },
  'no client': { client_id: undefined },
  'no subject': { sub: undefined },
  'another subject': { sub: 'client_other' },
  'an unknown client': { client_id: 'client_nobody', sub: 'client_nobody' },
  'no scope claim': { scope: undefined },
  'scopes in an array': { scope: [readFiat] },
}

for (const [what, changes] of Object.entries(badClaims)) {
  test(`refuses a token with ${what}`, async (t) => {
    const { sign, tokenCheck } = await forgeryWorld(t)
    assertRefused(await tokenCheck.checkToken(await sign(changes)))
  })
}

test('refuses tokens that are expired, issued in the future, too long-lived or not valid yet', async (t) => {
  const { now, sign, tokenCheck } = await forgeryWorld(t)
  const cases = [
    { iat: now - 900, exp: now },
    { iat: now - 900, exp: now - 1 },
    { iat: now + 6, exp: now + 100 },
    { iat: now, exp: now + 3601 },
    { iat: now, exp: now + 10 * 365 * 86_400 },
    { iat: now - 5000, exp: now + 100 },
    { nbf: now + 60 },
  ]
  for (const changes of cases) {
    assertRefused(await tokenCheck.checkToken(await sign(changes)), JSON.stringify(changes))
  }
  assertAccepted(await tokenCheck.checkToken(await sign({ iat: now + 5, exp: now + 100 })))
})

test('shares one refresh for the unknown keys of a while, since anyone can send one', async (t) => {
  using time = takeTime()
  const { cache } = await signingWorld(t)
  const first = cache.refreshForUnknownKey()
  await first
  await time.advance(limitNamed('unknownKeyIntervalMs') - 1)
  assert.equal(cache.refreshForUnknownKey(), first)
  await time.advance(1)
  const second = cache.refreshForUnknownKey()
  assert.notEqual(second, first)
  await second
})

test('refuses other types, missing or unknown key ids and unknown critical headers', async (t) => {
  const { byHand, sign, tokenCheck } = await forgeryWorld(t)
  const headers = [
    { typ: 'JWT' },
    { typ: undefined },
    { typ: 'id+jwt' },
    { typ: 'at+jwt+x' },
    { kid: undefined },
    { kid: '' },
    { kid: '../../etc/passwd' },
    { kid: '__proto__' },
    { kid: "' or 1=1 --" },
    { kid: 'constructor' },
  ]
  for (const header of headers) {
    assertRefused(await tokenCheck.checkToken(await sign({}, header)), JSON.stringify(header))
  }
  const critical = byHand({ crit: ['exp'], exp: 1 }, () => 'AAAA')
  assertRefused(await tokenCheck.checkToken(critical))
})

test('refuses unsigned tokens, and HMACs with the public key as the secret', async (t) => {
  const { byHand, key, tokenCheck } = await forgeryWorld(t)
  const hs256 = (secret: string) => (signed: string) =>
    createHmac('sha256', secret).update(signed).digest('base64url')
  const pem = await exportSPKI(key.publicKey)
  const attacks = [
    ...['none', 'None', 'nOnE', 'ES256', 'HS256'].map((alg) => byHand({ alg }, () => '')),
    byHand({ alg: 'none' }, () => 'AAAA'),
    byHand({ alg: 'HS256' }, hs256(pem)),
    byHand({ alg: 'HS256' }, hs256(pem.trim())),
    byHand({ alg: 'HS256' }, hs256(JSON.stringify(key.publicJwk))),
    byHand({ alg: 'HS256' }, hs256(String(key.publicJwk.x))),
    byHand({}, () => Buffer.alloc(64).toString('base64url')),
  ]
  for (const token of attacks) assertRefused(await tokenCheck.checkToken(token), token)
})

test('never takes a key from the token itself', async (t) => {
  const { key, sign, tokenCheck } = await forgeryWorld(t)
  const attacker = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(attacker.publicKey)
  const headers = [
    {},
    { jwk },
    { jku: 'https://evil.example/jwks' },
    { x5u: 'https://evil.example' },
    { kid: 'mine', jwk },
  ]
  for (const header of headers) {
    const token = await sign({}, header, attacker.privateKey)
    assertRefused(await tokenCheck.checkToken(token), JSON.stringify(header))
  }
  assertAccepted(await tokenCheck.checkToken(await sign({}, {}, key.privateKey)))
})

test('refuses text that is not a token', async (t) => {
  const { sign, tokenCheck } = await forgeryWorld(t)
  const good = await sign({})
  const texts = [
    '',
    '.',
    '..',
    '...',
    'a.b.c',
    `${good}.x`,
    `${good} `,
    good.slice(0, -4),
    '\0',
    '🙂',
  ]
  for (const text of [...texts, 'a'.repeat(100_000), `e30.${'e30'.repeat(5000)}.x`]) {
    assertRefused(await tokenCheck.checkToken(text), text.slice(0, 40))
  }
})

test('checks the expiry of a cached token', async (t) => {
  const { clock, now, sign, tokenCheck } = await forgeryWorld(t)
  const token = await sign({ iat: now, exp: now + 30 })
  assertAccepted(await tokenCheck.checkToken(token))
  clock.advance(29)
  assertAccepted(await tokenCheck.checkToken(token))
  clock.advance(1)
  assertRefused(await tokenCheck.checkToken(token))
})

test('refuses a denied token after the next poll, cached or not', async (t) => {
  const { client, clock, command, cache, tokenFor, tokenCheck } = await forgeryWorld(t)
  const [denied, other] = [await tokenFor(client), await tokenFor(client)]
  assertAccepted(await tokenCheck.checkToken(denied))
  const payload = JSON.parse(Buffer.from(String(denied.split('.')[1]), 'base64url').toString())
  await command.store.denyToken(payload.jti, clock() + 900_000_000n, clock())
  await cache.refresh()
  assertRefused(await tokenCheck.checkToken(denied))
  assertAccepted(await tokenCheck.checkToken(other))
})

test('refuses a disabled client after the next poll', async (t) => {
  const { client, command, cache, tokenFor, tokenCheck } = await forgeryWorld(t)
  const token = await tokenFor(client)
  assertAccepted(await tokenCheck.checkToken(token))
  await disableClient(command, client.id)
  await cache.refresh()
  assertRefused(await tokenCheck.checkToken(token))
})

test('refuses older tokens after --now, and accepts new ones at once', async (t) => {
  const { client, command, cache, tokenFor, tokenCheck } = await forgeryWorld(t)
  const older = await tokenFor(client)
  await rotateClient(command, client.id, { previousDays: 0 })
  await cache.refresh()
  const current = cache.current().clients.get(client.id)
  assert(current !== undefined)
  assertRefused(await tokenCheck.checkToken(older))
  assertAccepted(await tokenCheck.checkToken(await tokenFor(current)))
})

test('finds a client that was created after the last poll', async (t) => {
  const { sign, addExternal, command, tokenCheck } = await forgeryWorld(t)
  const method = { kind: 'secret' } as const
  const made = await addExternal(method)
  assert.notEqual(await command.store.findClient(made.id), undefined)
  const token = await sign({ sub: made.id, client_id: made.id })
  assertAccepted(await tokenCheck.checkToken(token))
})

test('reads only what has changed, and keeps other clients’ tokens cached', async (t) => {
  const reads: { clients: number; denied: number }[] = []
  const counting = (store: CredentialStore): CredentialStore => ({
    ...store,
    readStates: async (now, since) => {
      const states = await store.readStates(now, since)
      reads.push({ clients: states.clients.length, denied: states.deniedTokens.length })
      return states
    },
  })
  const { cache, clock, command, sample, tokenFor, tokenCheck } = await signingWorld(t, {
    through: counting,
  })
  const [acme, borealis] = [await sample('client_acme'), await sample('client_borealis')]
  const [first, second] = [await tokenFor(acme), await tokenFor(borealis)]
  await tokenCheck.checkToken(first)
  await tokenCheck.checkToken(second)
  reads.length = 0
  for (let index = 0; index < 3; index += 1) {
    await command.store.denyToken(`jti-${index}`, clock() + 60_000_000n, clock())
    await cache.refresh()
  }
  await disableClient(command, borealis.id)
  await cache.refresh()
  assert.deepEqual(reads, [
    { clients: 0, denied: 1 },
    { clients: 0, denied: 1 },
    { clients: 0, denied: 1 },
    { clients: 1, denied: 0 },
  ])
  // Only a cached token is answered without a promise.
  assert.equal(tokenCheck.checkToken(first) instanceof Promise, false)
  assert.equal(await tokenCheck.checkToken(second), 'disabled client')
})

test('forgets a denied token after its expiry, and learns of it again when the clock goes back', async (t) => {
  const { cache, clock, command } = await signingWorld(t)
  await command.store.denyToken('jti', clock() + 90_000_000n, clock())
  await cache.refresh()
  clock.advance(100)
  await command.store.denyToken('other', clock() + 900_000_000n, clock() - 60_000_000n)
  await cache.refresh()
  assert.deepEqual([...cache.current().deniedTokens.keys()], ['other'])
  clock.advance(-50)
  await cache.refresh()
  assert.deepEqual([...cache.current().deniedTokens.keys()].sort(), ['jti', 'other'])
})

test('accepts tokens of the old key after a rotation until they expire', async (t) => {
  const { client, clock, command, keyring, sign, cache, tokenFor, tokenCheck } =
    await forgeryWorld(t)
  const older = await tokenFor(client)
  const next = await command.keyring.rotate('token-signing', { revokeOthers: false })
  clock.advance(10)
  await cache.refresh()
  assert.equal(keyring.current('token-signing').id, next.id)
  assertAccepted(await tokenCheck.checkToken(older))
  assertAccepted(await tokenCheck.checkToken(await tokenFor(client)))
  clock.advance(3610)
  await cache.refresh()
  const late = Number(clock() / 1_000_000n)
  assertRefused(await tokenCheck.checkToken(await sign({ iat: late, exp: late + 60 })))
})

test('refuses tokens of a revoked key, cached or not', async (t) => {
  const { client, command, cache, tokenFor, tokenCheck } = await forgeryWorld(t)
  const [seen, unseen] = [await tokenFor(client), await tokenFor(client)]
  assertAccepted(await tokenCheck.checkToken(seen))
  await command.keyring.rotate('token-signing', { revokeOthers: true })
  await cache.refresh()
  assertRefused(await tokenCheck.checkToken(seen))
  assertRefused(await tokenCheck.checkToken(unseen))
  assertAccepted(await tokenCheck.checkToken(await tokenFor(client)))
})

test('accepts a key that another process has just created, before the next poll', async (t) => {
  const { client, command, cache, tokenCheck, keyring, tokenFor, clock } = await forgeryWorld(t)
  const before = await tokenFor(client)
  const other = await openCredentialCache({
    ...command,
    log,
    background: openBackground(),
    ageSecondsMax: 60,
  })
  t.after(() => other.close())
  await command.keyring.rotate('token-signing', { revokeOthers: true })
  await other.refresh()
  assert.equal(cache.current().signingKeys.has(command.keyring.current('token-signing').id), false)
  const key = other.current().signingKeys.get(command.keyring.current('token-signing').id)
  assert(key !== undefined)
  const { scopes } = client
  const token = await issueToken({ issuer, client, scopes, lifeSeconds: 60, key, now: clock() })
  const answers = await Promise.all([tokenCheck.checkToken(token), tokenCheck.checkToken(token)])
  assert(answers.every((answer) => typeof answer === 'object'))
  assert.equal(keyring.current('token-signing').id, key.id)
  assertRefused(await tokenCheck.checkToken(before))
})

test('answers 503 when the cache is older than 60 s, also for cached tokens', async (t) => {
  let isDown = false
  const failing = (store: CredentialStore): CredentialStore => ({
    ...store,
    revision: () => (isDown ? Promise.reject(new Error('the disk is gone')) : store.revision()),
  })
  using time = takeTime()
  const { clock, sample, cache, tokenFor, tokenCheck } = await signingWorld(t, { through: failing })
  const token = await tokenFor(await sample('client_acme'))
  await tokenCheck.checkToken(token)
  isDown = true
  await assert.rejects(cache.refresh(), /disk is gone/)
  await time.advance(60_000)
  // A clock that jumps changes no age.
  clock.advance(61)
  assertAccepted(await tokenCheck.checkToken(token))
  assert.deepEqual(cache.freshness(), { fresh: true, ageMs: 60_000, awaitsClients: false })
  await time.advance(1)
  assert.deepEqual(cache.freshness(), { fresh: false, ageMs: 60_001, awaitsClients: false })
  assert.throws(() => tokenCheck.checkToken(token), { name: 'Problem', status: 503 })
  isDown = false
  await cache.refresh()
  assertAccepted(await tokenCheck.checkToken(token))
})

test('answers a cached token at once, without a look at its signature', async (t) => {
  const { sign, tokenCheck } = await forgeryWorld(t)
  const token = await sign({})
  const first = tokenCheck.checkToken(token)
  assert.ok(first instanceof Promise)
  assertAccepted(await first)
  const cached = tokenCheck.checkToken(token)
  assert.ok(!(cached instanceof Promise))
  assertAccepted(cached)
})
