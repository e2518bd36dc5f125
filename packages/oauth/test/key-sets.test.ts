import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { TrustedIssuer } from '@bursar/base'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { createClient } from '../src/clients/clients.ts'
import { assertAccepted } from './support/assert-checked.ts'
import { linesOfLog } from './support/lines-of-log.ts'
import { oauthWorld } from './support/oauth-world.ts'

type Pair = { readonly jwk: JWK; readonly privateJwk: JWK }

async function pairOf(algorithm: string): Promise<Pair> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return { jwk: await exportJWK(publicKey), privateJwk: await exportJWK(privateKey) }
}

const [rsa, other, ec, p384, ed] = await Promise.all(
  ['RS256', 'RS256', 'ES256', 'ES384', 'Ed25519'].map((algorithm) => pairOf(algorithm)),
)
assert(rsa && other && ec && p384 && ed)
const named = { ...rsa.jwk, kid: 'k', use: 'sig', alg: 'RS256' }

type Answer = (response: ServerResponse) => unknown

/** A server that trusts an issuer, which gives every path one answer. */
async function keySetWorld(
  t: TestContext,
  first: (url: string) => Answer = () => (response) => response.end('{"keys":[]}'),
  byDiscovery = false,
) {
  const keyServer = createServer((_, response) => void answer(response))
  await new Promise<void>((resolve) => keyServer.listen(0, '127.0.0.1', resolve))
  t.after(() => keyServer.close())
  const url = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}`
  let answer = first(url)
  const issuer = byDiscovery ? url : 'https://id.example'
  const trusted: TrustedIssuer = {
    issuer,
    jwksUri: byDiscovery ? undefined : `${url}/keys?secret=1`,
    audience: 'bursar',
    algorithms: ['RS256', 'PS256', 'ES256', 'ES384', 'Ed25519'],
    typ: 'any',
    scopeClaim: 'scope',
    clientClaim: 'client_id',
    clientCredentials: { claim: 'sub', value: '{client}' },
  }
  const { log, lines } = linesOfLog()
  const world = await oauthWorld(t, { issuers: [trusted], log })
  const method = { kind: 'issuer', issuer, externalId: 'c' } as const
  await createClient(world.command, { customerId: 'acme', name: 'c', scopes: undefined, method })
  await world.oauth.refresh()
  const publishing = async (keys: unknown): Promise<void> => {
    answer = (response) => response.end(JSON.stringify({ keys }))
    await world.oauth.refresh()
  }
  const check = async ({ privateJwk }: Pair, alg: string, kid = 'k') => {
    const now = Number(world.clock() / 1_000_000n)
    const claims = { iss: issuer, aud: 'bursar', client_id: 'c', sub: 'c', iat: now, exp: now + 60 }
    const token = new SignJWT({ ...claims, jti: crypto.randomUUID() })
    return world.oauth.checkToken(await token.setProtectedHeader({ alg, kid }).sign(privateJwk))
  }
  const leftOut = () =>
    lines()
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'keys of a trusted issuer are left out')
  return { ...world, publishing, check, lines, leftOut }
}

const nothing = 'is not a JSON Web Key'
const broken = 'is broken, weak, or of an unknown kty or crv'
const published = 'is published with its private part, so anyone can sign with it'
const otherPurpose = 'is not for signatures of the configured algorithms'

const neighbours: readonly (readonly [what: string, entry: unknown, why?: string])[] = [
  ['the same entry', named],
  ['the same id with another key', { ...other.jwk, kid: 'k', use: 'sig', alg: 'RS256' }],
  ['the same id with another algorithm', { ...rsa.jwk, kid: 'k', alg: 'PS256' }],
  ['the same id with another key type', { ...ec.jwk, kid: 'k' }],
  ['the same id for encryption', { ...other.jwk, kid: 'k', use: 'enc' }, otherPurpose],
  ['the same key for encryption', { ...named, alg: 'RSA-OAEP', use: 'enc' }, otherPurpose],
  ['an algorithm for encryption', { ...other.jwk, kid: 'k', alg: 'RSA-OAEP' }, otherPurpose],
  ['an algorithm that is not configured', { ...other.jwk, kid: 'k', alg: 'RS512' }, otherPurpose],
  ['an algorithm that does not fit its type', { ...ec.jwk, kid: 'k', alg: 'RS256' }, otherPurpose],
  ['an algorithm that is a number', { ...other.jwk, kid: 'k', alg: 7 }, otherPurpose],
  ['other operations', { ...other.jwk, kid: 'k', key_ops: ['wrapKey'] }, otherPurpose],
  ['operations that are no list', { ...other.jwk, kid: 'k', key_ops: 'verify' }, otherPurpose],
  ['an unknown type', { kty: 'AKP', kid: 'k', pub: 'AA' }, broken],
  ['no type', { kid: 'k' }, broken],
  ['an unknown curve', { ...ec.jwk, kid: 'k', crv: 'P-999' }, broken],
  ['a point off its curve', { ...ec.jwk, kid: 'k', x: ec.jwk.y }, broken],
  ['a modulus that is a number', { ...rsa.jwk, kid: 'k', n: 7 }, broken],
  ['a short modulus', { kty: 'RSA', kid: 'k', n: 'AQAB', e: 'AQAB' }, broken],
  ['the exponent 1', { ...other.jwk, kid: 'k', e: 'AQ' }, broken],
  ['a shared secret', { kty: 'oct', kid: 'k', k: 'c2VjcmV0' }, published],
  ['a private key', { ...other.privateJwk, kid: 'k' }, published],
  ['a text', 'key', nothing],
  ['null', null, nothing],
]

test('uses a key beside any other entry of its set, and names in the log what it leaves out', async (t) => {
  const { check, leftOut, lines, publishing } = await keySetWorld(t)
  for (const [what, entry, why] of neighbours) {
    for (const at of [0, 1]) {
      const before = leftOut().length
      await publishing(at === 0 ? [entry, named] : [named, entry])
      assertAccepted(await check(rsa, 'RS256'), `${what} at ${at}`)
      const [line, ...more] = leftOut().slice(before)
      assert.deepEqual(more, [], what)
      const kid = typeof entry === 'object' && entry !== null ? 'k' : undefined
      const keys = [JSON.parse(JSON.stringify({ at, kid, why }))]
      const isOrdinary = why === otherPurpose
      const expected = [why && keys, why && 1, why && (isOrdinary ? 30 : 40)]
      assert.deepEqual([line?.keys, line?.count, line?.level], expected, what)
    }
  }
  assert.doesNotMatch(lines().join('\n'), /c2VjcmV0|cannot be fetched/)
  assert(!lines().join('\n').includes(String(other.privateJwk.d)))
})

test('tries every key of one id, of which type and algorithm decide', async (t) => {
  const { check, publishing } = await keySetWorld(t)
  const pairs = [rsa, other, ec, p384, ed]
  await publishing(pairs.map(({ jwk }) => ({ ...jwk, kid: 'k' })))
  for (const [pair, alg] of [
    [rsa, 'RS256'],
    [other, 'RS256'],
    [other, 'PS256'],
    [ec, 'ES256'],
    [p384, 'ES384'],
    [ed, 'Ed25519'],
  ] as const) {
    assertAccepted(await check(pair, alg), alg)
  }
  assert.equal(await check(await pairOf('RS256'), 'RS256'), 'bad signature')
  assert.equal(await check(await pairOf('ES256'), 'ES256'), 'bad signature')
  await publishing([
    { ...rsa.jwk, kid: 'k', alg: 'RS256' },
    { ...rsa.jwk, kid: 'k', alg: 'PS256' },
    { ...other.jwk, kid: 'k', alg: 'PS256' },
  ])
  assertAccepted(await check(rsa, 'PS256'))
  assertAccepted(await check(other, 'PS256'))
  assert.equal(await check(other, 'RS256'), 'bad signature')
})

test('uses keys without an id for an id that no key of the set has', async (t) => {
  const { check, leftOut, publishing } = await keySetWorld(t)
  await publishing([rsa.jwk, other.jwk, ec.jwk, { ...p384.jwk, kid: 'k' }])
  for (const pair of [rsa, other]) assertAccepted(await check(pair, 'RS256', 'any'))
  assertAccepted(await check(ec, 'ES256', 'any'))
  assertAccepted(await check(p384, 'ES384'))
  assert.equal(await check(p384, 'ES384', 'any'), 'unknown key')
  assert.equal(await check(await pairOf('RS256'), 'RS256', 'any'), 'bad signature')
  assert.deepEqual(leftOut(), [])
})

test('reads null as an absent member, and ignores members that it does not know', async (t) => {
  const { check, leftOut, publishing } = await keySetWorld(t)
  const absent = { alg: null, use: null, key_ops: null, d: null, crv: null, ext: 'no', x5c: 7 }
  await publishing([{ ...rsa.jwk, kid: 'k', ...absent }])
  assertAccepted(await check(rsa, 'RS256'))
  assert.deepEqual(leftOut(), [])
})

test('never uses a key whose private part is in the set, under no id', async (t) => {
  const { check, leftOut, publishing } = await keySetWorld(t)
  await publishing([{ ...rsa.jwk, kid: 'twin' }, { ...rsa.privateJwk, kid: 'k' }, { ...other.jwk }])
  for (const kid of ['k', 'twin', 'any'])
    assert.equal(typeof (await check(rsa, 'RS256', kid)), 'string')
  assertAccepted(await check(other, 'RS256', 'any'))
  const keys = [
    { at: 0, kid: 'twin', why: published },
    { at: 1, kid: 'k', why: published },
  ]
  assert.deepEqual(leftOut()[0].keys, keys)
})

test('finds a key among a thousand, and bounds those of one id and those that it names', async (t) => {
  const { check, leftOut, publishing } = await keySetWorld(t)
  const many = await Promise.all(Array.from({ length: 1000 }, () => pairOf('Ed25519')))
  await publishing(many.map(({ jwk }, at) => ({ ...jwk, kid: `k${at}` })))
  for (const at of [0, 500, 999]) {
    const pair = many[at]
    assert(pair)
    assertAccepted(await check(pair, 'Ed25519', `k${at}`))
  }
  assert.deepEqual(leftOut(), [])
  const odd = Array.from({ length: 1000 }, (_, at) => ({
    kty: 'x',
    kid: `${at}\n${'y'.repeat(99)}`,
  }))
  await publishing([...odd, named])
  assertAccepted(await check(rsa, 'RS256'))
  await publishing([named, ...odd])
  const [first, second, ...more] = leftOut()
  assert.deepEqual([first.count, first.keys.length, second.count, more], [1000, 20, 1000, []])
  assert.equal(first.keys[0].kid, `0\\u{a}${'y'.repeat(98)}…`)
  await publishing(many.slice(0, 12).map(({ jwk }) => ({ ...jwk, kid: 'k' })))
  const results = await Promise.all(many.slice(0, 12).map((pair) => check(pair, 'Ed25519')))
  assert.deepEqual(results.map((result) => typeof result).slice(9), ['object', 'string', 'string'])
  assert.deepEqual(
    leftOut()
      .at(-1)
      .keys.map(({ at }: { at: number }) => at),
    [10, 11],
  )
})

test('names what it leaves out once, until it changes', async (t) => {
  const { leftOut, oauth, publishing } = await keySetWorld(t)
  const odd = { kty: 'x', kid: 'odd' }
  await publishing([odd, named])
  for (let times = 0; times < 3; times += 1) await oauth.refresh()
  assert.equal(leftOut().length, 1)
  await publishing([named])
  assert.equal(leftOut().length, 1)
  await publishing([odd, named])
  assert.equal(leftOut().length, 2)
})

const saying = (text: string) => () => (response: ServerResponse) => response.end(text)
const failures: readonly (readonly [what: string, first: (url: string) => Answer])[] = [
  ['answered HTTP 500', () => (response) => response.writeHead(500).end()],
  ['answered HTTP 302', () => (response) => response.writeHead(302, { location: '/x' }).end()],
  ['answered what is no JSON', saying('<html>')],
  ['answered what is no JSON Web Key Set', saying('{"keys":{}}')],
  ['answered what is no JSON Web Key Set', saying('[]')],
  ['answered more than 262144 bytes', saying('x'.repeat(262_145))],
  ['cannot be reached', () => (response) => response.destroy()],
]
const ofMetadata: typeof failures = [
  ['names another issuer in its metadata', saying('{"issuer":"https://id.example"}')],
  ['names no safe jwks_uri', (url) => (response) => response.end(JSON.stringify({ issuer: url }))],
]

test('a 503 says what the issuer did, and of none that answers that it cannot be reached', async (t) => {
  for (const [what, first] of [...failures, ...ofMetadata]) {
    const world = await keySetWorld(
      t,
      first,
      ofMetadata.some(([each]) => each === what),
    )
    const detail = `the issuer of this token ${what}, try again shortly`
    await assert.rejects(world.check(rsa, 'RS256'), { name: 'Problem', status: 503, detail }, what)
    const { msg, err, url } = JSON.parse(world.lines().at(-1) ?? '')
    assert.equal(msg, 'the keys of a trusted issuer cannot be fetched')
    assert(err.message.startsWith(what), err.message)
    assert.doesNotMatch(url, /\?/)
  }
})

test('the keys are used from the first set that can be read', async (t) => {
  const { check, publishing } = await keySetWorld(t, saying('{'))
  await assert.rejects(check(rsa, 'RS256'), { status: 503 })
  await publishing([named])
  assertAccepted(await check(rsa, 'RS256'))
  await publishing('no array')
  assertAccepted(await check(rsa, 'RS256'))
})

test('an issuer without a usable key is no failure: its tokens are refused', async (t) => {
  const { check, publishing } = await keySetWorld(t)
  for (const keys of [[], [{ kty: 'x' }], [null]]) {
    await publishing(keys)
    assert.equal(await check(rsa, 'RS256'), 'unknown key', JSON.stringify(keys))
  }
})
