import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { createClient, readClientKeys } from '../src/clients/clients.ts'
import { assertRefused } from './support/assert-checked.ts'
import { linesOfLog } from './support/lines-of-log.ts'
import { acme, type OAuthWorldOptions, oauthWorld } from './support/oauth-world.ts'

const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** A client with its own signing key, and a function that sends any assertion. */
async function assertionWorld(context: TestContext, options: OAuthWorldOptions = {}) {
  const world = await oauthWorld(context, options)
  const pair = await generateKeyPair('ES256', { extractable: true })
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1' }
  const read = await readClientKeys(JSON.stringify({ keys: [jwk] }))
  assert('jwks' in read)
  const method = { kind: 'keys', jwks: read.jwks } as const
  const made = await createClient(world.command, {
    customerId: 'acme',
    name: 'With keys',
    scopes: undefined,
    method,
  })
  assert('client' in made)
  assert.equal(made.secret, undefined)
  const { id } = made.client
  const now = Number(world.clock() / 1_000_000n)
  let count = 0
  const assertion = (changes: JWTPayload = {}, header = {}, key = pair.privateKey) => {
    count += 1
    const claims = { iss: id, sub: id, aud: world.url, jti: `j${count}`, iat: now, exp: now + 60 }
    return new SignJWT({ ...claims, ...changes })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header })
      .sign(key)
  }
  const send = (client_assertion: string, form: Record<string, string> = {}) =>
    world.post(
      '/oauth2/token',
      {
        grant_type: 'client_credentials',
        client_assertion_type: type,
        client_assertion,
        ...form,
      },
      // Each request has its own address, so that the guess limiter does not apply.
      { headers: { 'x-test-address': `192.0.2.${count}` } },
    )
  return { ...world, id, now, pair, assertion, send, jwk }
}

test('accepts an assertion signed with the client’s key, once', async (t) => {
  const { assertion, send } = await assertionWorld(t)
  const first = await assertion()
  const { status, body } = await send(first)
  assert.equal(status, 200)
  assert.match(body.scope, /^transfer:read_fiat_account .*exchange:read_issuer_quote_execution$/)
  assert.doesNotMatch(body.scope, /fee:write/)
  const again = await send(first)
  assert.deepEqual([again.status, again.body.error], [401, 'invalid_client'])
})

test('refuses assertions for another audience, of another client or with a long life', async (t) => {
  const { assertion, id, now, send, url } = await assertionWorld(t)
  const cases: readonly JWTPayload[] = [
    { aud: `${url}/oauth2/token` },
    { aud: [url] },
    { aud: [url, 'https://other.example'] },
    { aud: 'https://other.example' },
    { iss: 'someone' },
    { sub: acme.id, iss: acme.id },
    { exp: now - 6 },
    { exp: now + 306 },
    { iat: now + 6 },
    { nbf: now + 60 },
    { jti: '' },
    { jti: 'x'.repeat(257) },
    { sub: `${id}x` },
    JSON.parse('{"sub":5}'),
    JSON.parse('{"sub":["x"]}'),
  ]
  for (const claims of cases) {
    const { status, body } = await send(await assertion(claims))
    assert.deepEqual([status, body.error], [401, 'invalid_client'], JSON.stringify(claims))
  }
})

for (const explains of [false, true]) {
  test(`says why it refuses an assertion in the log${explains ? ' and, in a sandbox, in the answer' : ' alone'}`, async (t) => {
    const { log, lines } = linesOfLog()
    const { assertion, id, now, send, url } = await assertionWorld(t, { explains, log })
    const audience = `aud must be ${url} as a string, and not the URL of an endpoint`
    const used = await assertion()
    assert.equal((await send(used)).status, 200)
    const cases: readonly (readonly [made: () => string | Promise<string>, why: string])[] = [
      [() => assertion({ aud: `${url}/oauth2/token` }), audience],
      [() => assertion({ aud: [url, `${url}/oauth2/token`] }), audience],
      [() => assertion({ aud: [url] }), audience],
      [() => assertion({ aud: `${url}/` }), audience],
      [() => assertion({ aud: 'https://other.example' }), audience],
      [() => assertion({}, { typ: 'at+jwt' }), 'wrong type'],
      [() => assertion({}, { kid: 'k2' }), 'unknown key'],
      [() => assertion({ iss: 'someone' }), 'wrong claims'],
      [() => assertion({ exp: now - 6 }), 'expired'],
      [() => assertion({ exp: now + 306 }), 'lives too long'],
      [() => assertion({ iat: now + 6 }), 'not yet valid'],
      [() => assertion({ jti: '' }), 'wrong claims'],
      [() => used, 'used before'],
    ]
    for (const [made, why] of cases) {
      const { body } = await send(await made())
      const detail = 'client authentication failed'
      const error_description = explains ? `${detail}: ${why}` : detail
      assert.deepEqual(body, { error: 'invalid_client', error_description }, why)
      const { msg, client, outcome, why: logged } = JSON.parse(lines().at(-1) ?? '')
      assert.deepEqual(
        [msg, client, outcome, logged],
        ['client authentication', id, 'refused', why],
      )
    }
  })
}

test('refuses other keys, algorithms and types of assertion', async (t) => {
  const { assertion, id, jwk, now, pair, send } = await assertionWorld(t)
  const other = await generateKeyPair('ES256')
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const claims = encode({ iss: id, sub: id, jti: 'h', exp: now + 60 })
  const signed = `${encode({ alg: 'HS256', kid: 'k1' })}.${claims}`
  const pem = await exportSPKI(pair.publicKey)
  const attacks = [
    await assertion({}, {}, other.privateKey),
    await assertion({}, { kid: 'k2', jwk }),
    `${encode({ alg: 'none' })}.${claims}.`,
    `${signed}.${createHmac('sha256', pem).update(signed).digest('base64url')}`,
    'x',
  ]
  for (const [at, attack] of attacks.entries()) {
    assert.equal((await send(attack)).status, 401, `attack ${at}`)
  }
  // Its subject is the client, so the header alone is what is wrong.
  const headless = (await assertion()).replace(/^[^.]+/, 'e30x')
  const named = await send(headless, { client_id: id })
  assert.deepEqual([named.status, named.body.error], [401, 'invalid_client'])
  const otherName = await send(await assertion(), { client_id: acme.id })
  assert.deepEqual([otherName.status, otherName.body.error], [400, 'invalid_request'])
  assert.equal((await send(await assertion(), { client_id: id })).status, 200)
  const wrongType = await send(await assertion(), { client_assertion_type: 'x' })
  assert.deepEqual([wrongType.status, wrongType.body.error], [400, 'invalid_request'])
})

test('accepts an assertion that names none of the client’s keys, signed with any of them', async (t) => {
  const { command, now, send, url } = await assertionWorld(t)
  const pairs = await Promise.all([1, 2].map(() => generateKeyPair('ES256', { extractable: true })))
  const keys = await Promise.all(
    pairs.map(async ({ publicKey }, at) => ({ ...(await exportJWK(publicKey)), kid: `k${at}` })),
  )
  const method = { kind: 'keys', jwks: JSON.stringify({ keys }) } as const
  const wanted = { customerId: 'acme', name: 'Two keys', scopes: undefined, method }
  const made = await createClient(command, wanted)
  assert('client' in made)
  const { id } = made.client
  const stranger = await generateKeyPair('ES256')
  const statuses: number[] = []
  for (const { privateKey } of [...pairs, stranger]) {
    const claims = { iss: id, sub: id, aud: url, jti: crypto.randomUUID(), exp: now + 60 }
    const assertion = new SignJWT(claims).setProtectedHeader({ alg: 'ES256' })
    statuses.push((await send(await assertion.sign(privateKey))).status)
  }
  assert.deepEqual(statuses, [200, 200, 401])
})

test('refuses a secret from a client with keys, and an assertion from a client with a secret', async (t) => {
  const { assertion, id, send, token } = await assertionWorld(t)
  assert.equal((await token({ client_id: id, client_secret: 'x' })).status, 401)
  assert.equal((await send(await assertion({ iss: acme.id, sub: acme.id }))).status, 401)
})

test('does not accept an assertion as an access token', async (t) => {
  const { assertion, oauth } = await assertionWorld(t)
  assertRefused(await oauth.checkToken(await assertion()))
  assertRefused(await oauth.checkToken(await assertion({}, { typ: 'at+jwt' })))
})

test('registers public keys only, of the supported types', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const p384 = await generateKeyPair('ES384', { extractable: true })
  const jwk = await exportJWK(publicKey)
  const cases: readonly [unknown, RegExp][] = [
    ['no json', /not a JSON object/],
    [{ keys: [] }, /1 to 10 keys/],
    [{ keys: Array(11).fill(jwk) }, /1 to 10 keys/],
    [{ keys: [jwk, jwk] }, /same kid/],
    [await exportJWK(privateKey), /is private/],
    [{ kty: 'oct', k: 'abcd' }, /is private/],
    [{ kty: 'EC', crv: 'P-256', x: 'a', y: 'b' }, /is not an EC/],
    [await exportJWK(p384.publicKey), /P-256/],
    [{ keys: [null] }, /is not a JSON Web Key/],
  ]
  for (const [document, refusal] of cases) {
    const read = await readClientKeys(
      typeof document === 'string' ? document : JSON.stringify(document),
    )
    assert('refused' in read, JSON.stringify(document))
    assert.match(read.refused, refusal, JSON.stringify(document))
  }
  assert('jwks' in (await readClientKeys(JSON.stringify(jwk))))
  const rsa = await generateKeyPair('PS256', { extractable: true })
  assert('jwks' in (await readClientKeys(JSON.stringify(await exportJWK(rsa.publicKey)))))
})
