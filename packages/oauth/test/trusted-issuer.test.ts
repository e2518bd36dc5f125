import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { systemMs, until } from '../../../test/support/until.ts'
import { passTime } from '../../../test/support/virtual-time.ts'
import { parseTrustedIssuers, type TrustedIssuer } from '../../base/src/settings/trusted-issuers.ts'
import { createClient, disableClient } from '../src/clients/clients.ts'
import type { Refusal } from '../src/tokens/refusal.ts'
import { assertAccepted, assertRefused } from './support/assert-checked.ts'
import { acme, oauthWorld } from './support/oauth-world.ts'
import { type Cleanups, startProcess } from './support/process.ts'

const clientCredentials = { claim: 'sub', value: '{client}' }
const readFiat = 'transfer:read_fiat_account'

const startIssuer = (context: Cleanups) => startProcess(context, './issuer-process.ts')

/** For every test that does not end it. */
const shared = await startIssuer({ after })

const trusting = (issuer: string, changes: Partial<TrustedIssuer> = {}): TrustedIssuer => ({
  issuer,
  jwksUri: undefined,
  audience: 'bursar',
  algorithms: ['RS256'],
  typ: 'at+jwt',
  scopeClaim: 'scp',
  clientClaim: 'azp',
  clientCredentials,
  ...changes,
})

/** A server that trusts an issuer in another process, and Acme's client of that issuer. */
async function issuerWorld(
  context: TestContext,
  changes: Partial<TrustedIssuer> = {},
  issuer = shared,
) {
  const trusted = trusting(issuer.url, changes)
  const world = await oauthWorld(context, { issuers: [trusted] })
  const method = { kind: 'issuer', issuer: issuer.url, externalId: 'ext-acme' } as const
  const wanted = { customerId: 'acme', name: 'Acme elsewhere', scopes: [readFiat], method }
  const made = await createClient(world.command, wanted)
  assert('client' in made)
  await world.oauth.refresh()
  const order = async (
    path: string,
    body: object = {},
  ): Promise<{ token: string; asked: number }> => {
    const answer = await fetch(issuer.url + path, { method: 'POST', body: JSON.stringify(body) })
    return JSON.parse(await answer.text())
  }
  const sign = async (claims: object = {}, header: object = {}): Promise<string> => {
    const now = Number(world.clock() / 1_000_000n)
    const client = { sub: 'ext-acme', azp: 'ext-acme' }
    const good = { aud: 'bursar', ...client, scp: [readFiat], iat: now, exp: now + 300 }
    return (await order('/sign', { claims: { ...good, ...claims }, header })).token
  }
  const checkToken = async (token: string) => world.oauth.checkToken(token)
  return { ...world, issuer, client: made.client, order, sign, checkToken }
}

test('accepts a token of a trusted issuer for the customer of its client', async (t) => {
  const { client, sign, checkToken } = await issuerWorld(t)
  const token = await sign({ scp: [readFiat, 'statements:read_statement'], customer_id: 'globex' })
  assert.deepEqual(await checkToken(token), {
    clientId: client.id,
    tenant: 'acme',
    scopes: new Set([readFiat]),
  })
  assert.equal(await checkToken(token), await checkToken(token))
})

test('accepts an audience in an array, and keys of a configured URL', async (t) => {
  const first = await issuerWorld(t)
  assertAccepted(await first.checkToken(await first.sign({ aud: ['account', 'bursar'] })))
  const jwksUri = `${first.issuer.url}/keys`
  const claimed = { scopeClaim: 'scope', clientClaim: 'client_id' }
  const issuers = [trusting(first.issuer.url, { jwksUri, typ: 'any', ...claimed })]
  const second = await oauthWorld(t, { issuers })
  const method = { kind: 'issuer', issuer: first.issuer.url, externalId: 'ext-2' } as const
  await createClient(second.command, { customerId: 'acme', name: 'x', scopes: undefined, method })
  await second.oauth.refresh()
  const claims = { azp: null, sub: 'ext-2', client_id: 'ext-2', scp: null, scope: `${readFiat} x` }
  const principal = await second.oauth.checkToken(await first.sign(claims, { typ: 'JWT' }))
  assertAccepted(principal)
  assert.deepEqual([...principal.scopes], [readFiat])
})

test('refuses what the issuer’s configuration does not allow', async (t) => {
  const { clock, sign, checkToken } = await issuerWorld(t)
  const now = Number(clock() / 1_000_000n)
  const both = (id: string) => ({ azp: id, sub: id })
  const claims: readonly (readonly [object, Refusal])[] = [
    [{ aud: 'other' }, 'wrong audience'],
    [{ aud: null }, 'wrong audience'],
    [{ azp: null }, 'wrong claims'],
    [both('ext-unknown'), 'unknown client'],
    [{ ...both(acme.id), client_id: acme.id }, 'unknown client'],
    [{ iss: 'https://evil.example' }, 'unknown issuer'],
    [{ exp: null }, 'wrong claims'],
    [{ iat: null }, 'wrong claims'],
    [{ exp: now - 31 }, 'expired'],
    [{ iat: now + 31 }, 'not yet valid'],
    [{ exp: now + 86_401 }, 'lives too long'],
    [{ nbf: now + 31 }, 'not yet valid'],
    [{ scp: 7 }, 'wrong claims'],
  ]
  for (const [changes, refusal] of claims) {
    assert.equal(await checkToken(await sign(changes)), refusal, JSON.stringify(changes))
  }
  const headers: readonly (readonly [object, Refusal])[] = [
    [{ typ: 'JWT' }, 'wrong type'],
    [{ typ: null }, 'wrong type'],
    [{ alg: 'PS256' }, 'wrong algorithm'],
    [{ alg: 'RS512' }, 'wrong algorithm'],
  ]
  for (const [header, refusal] of headers) {
    assert.equal(await checkToken(await sign({}, header)), refusal, JSON.stringify(header))
  }
  assertAccepted(await checkToken(await sign({ exp: now - 29, iat: now - 60 })))
})

const notTheClients: readonly (readonly [what: string, claims: object])[] = [
  ['of a person who uses the client', { sub: 'person-7' }],
  ['without a subject', { sub: null }],
  ['with a nonce', { nonce: 'n' }],
  ['with the hash of an access token', { at_hash: 'h' }],
  ['that Keycloak marks as an ID token', { typ: 'ID' }],
]
for (const [what, claims] of notTheClients) {
  test(`refuses a token ${what}, with any typ that the configuration allows`, async (t) => {
    for (const typ of ['at+jwt', 'any']) {
      const { sign, checkToken } = await issuerWorld(t, { typ })
      assert.equal(await checkToken(await sign(claims)), 'not client credentials', typ)
    }
  })
}

test('with typ any, refuses a token that names a type other than an access token’s', async (t) => {
  const { sign, checkToken } = await issuerWorld(t, { typ: 'any' })
  for (const typ of ['logout+jwt', 'secevent+jwt', 'client-authentication+jwt']) {
    assert.equal(await checkToken(await sign({}, { typ })), 'wrong type', typ)
  }
  for (const typ of ['JWT', 'application/at+jwt', null]) {
    assertAccepted(await checkToken(await sign({}, { typ })), String(typ))
  }
})

test('knows the client’s own token by the claim that the configuration names', async (t) => {
  const auth0 = await issuerWorld(t, {
    clientCredentials: { claim: 'gty', value: 'client-credentials' },
  })
  const sub = 'ext-acme@clients'
  assertAccepted(await auth0.checkToken(await auth0.sign({ sub, gty: 'client-credentials' })))
  assertRefused(await auth0.checkToken(await auth0.sign({ sub, gty: 'password' })))
  assertRefused(await auth0.checkToken(await auth0.sign({ sub: 'ext-acme' })))
  const keycloak = await issuerWorld(t, {
    clientCredentials: { claim: 'preferred_username', value: 'service-account-{client}' },
  })
  const token = (name: string) => keycloak.sign({ sub: 'uuid', preferred_username: name })
  assertAccepted(await keycloak.checkToken(await token('service-account-ext-acme')))
  assertRefused(await keycloak.checkToken(await token('service-account-ext-other')))
})

test('accepts times with a fraction', async (t) => {
  const { clock, sign, checkToken } = await issuerWorld(t)
  const now = Number(clock() / 1_000_000n)
  const token = await sign({ iat: now - 0.75, nbf: now - 0.5, exp: now + 60.25 })
  assertAccepted(await checkToken(token))
})

test('refuses a token of the issuer that names a Bursar client', async (t) => {
  const { sign, url, checkToken } = await issuerWorld(t)
  const claims = { iss: url, aud: url, sub: acme.id, client_id: acme.id, scope: readFiat, jti: 'j' }
  assertRefused(await checkToken(await sign(claims)))
})

test('refuses a disabled external client, and records its last use', async (t) => {
  const { client, clock, command, oauth, sign, checkToken } = await issuerWorld(t)
  const token = await sign()
  assertAccepted(await checkToken(token))
  const lastUsedAt = async () => (await command.store.findClient(client.id))?.lastUsedAt
  await until(async () => (await lastUsedAt()) === clock())
  await disableClient(command, client.id)
  await oauth.refresh()
  assertRefused(await checkToken(token))
})

test('issues no token to an external client', async (t) => {
  const { client, token } = await issuerWorld(t)
  assert.equal((await token({ client_id: client.id, client_secret: 'x' })).status, 401)
})

test('follows a rotation of the issuer’s keys, and ends what tokens of the old key may do', async (t) => {
  const { oauth, order, sign, checkToken } = await issuerWorld(t)
  const older = await sign()
  const caller = await checkToken(older)
  assertAccepted(caller)
  await oauth.refresh()
  assert(oauth.stillMay(caller, readFiat))
  await order('/rotate')
  await oauth.refresh()
  assertRefused(await checkToken(older))
  assert(!oauth.stillMay(caller, readFiat))
  assertAccepted(await checkToken(await sign()))
})

test('fetches keys for an unknown key id at most every thirty seconds', async (t) => {
  const { oauth, order, sign, checkToken } = await issuerWorld(t)
  t.mock.timers.enable({ apis: ['Date'], now: systemMs() })
  await order('/rotate')
  const token = await sign()
  const asked = async () => (await order('/sign')).asked
  const before = await asked()
  for (const answer of await Promise.all(Array.from({ length: 20 }, () => checkToken(token)))) {
    assertRefused(answer)
  }
  assert.equal(await asked(), before)
  t.mock.timers.tick(30_000)
  const answers = await Promise.all(Array.from({ length: 20 }, () => checkToken(token)))
  assert(answers.every((answer) => typeof answer === 'object'))
  assert.equal(await asked(), before + 1)
  await oauth.refresh()
})

test('a failed fetch is repeated for an unknown key id at most every thirty seconds', async (t) => {
  const { oauth, order, sign, checkToken } = await issuerWorld(t)
  const known = await sign()
  t.after(() => order('/mode'))
  await order('/mode', { mode: 'failing' })
  await order('/rotate')
  t.mock.timers.enable({ apis: ['Date'], now: systemMs() })
  await oauth.refresh()
  const asked = async () => (await order('/sign')).asked
  const before = await asked()
  for (let at = 0; at < 5; at += 1) assertRefused(await checkToken(await sign()))
  assert.equal(await asked(), before)
  t.mock.timers.tick(30_000)
  for (let at = 0; at < 5; at += 1) assertRefused(await checkToken(await sign()))
  assert.equal(await asked(), before + 1)
  assertAccepted(await checkToken(known))
})

for (const mode of ['failing', 'redirecting', 'huge', 'no set']) {
  test(`keeps the known keys while the issuer is ${mode}`, async (t) => {
    const { oauth, order, sign, checkToken } = await issuerWorld(t)
    const token = await sign()
    const caller = await checkToken(token)
    assertAccepted(caller)
    t.after(() => order('/mode'))
    await order('/mode', { mode })
    await order('/rotate')
    await oauth.refresh()
    assertAccepted(await checkToken(token))
    assert(oauth.stillMay(caller, readFiat))
    assertRefused(await checkToken(await sign()))
  })
}

test('ignores shared secrets and weak keys in a key set', async (t) => {
  const { oauth, order, sign, checkToken } = await issuerWorld(t)
  t.after(() => order('/mode'))
  const token = await sign()
  for (const mode of ['secret', 'broken']) {
    await order('/mode', { mode })
    await oauth.refresh()
    assertRefused(await checkToken(token), mode)
  }
})

test('accepts tokens for a day while the issuer is down, then answers 503 for them alone', async (t) => {
  const issuer = await startIssuer(t)
  const { clock, oauth, sign, token, checkToken } = await issuerWorld(t, {}, issuer)
  const now = Number(clock() / 1_000_000n)
  const external = await sign({ iat: now + 20, exp: now + 86_420 })
  await issuer.kill()
  clock.advance(86_400)
  passTime(86_000_000)
  await oauth.refresh()
  assertAccepted(await checkToken(external))
  clock.advance(10)
  await oauth.refresh()
  assertAccepted(await checkToken((await token()).body.access_token))
  // The token has ended too, so that it is looked at again.
  clock.advance(51)
  passTime(400_000)
  await oauth.refresh()
  await assert.rejects(checkToken(external), { name: 'Problem', status: 503 })
})

test('starts while an issuer is down, and answers 503 for its tokens until it is up', async (t) => {
  const issuer = await startIssuer(t)
  const { sign } = await issuerWorld(t, {}, issuer)
  const external = await sign()
  await issuer.kill()
  const issuers = [trusting(issuer.url, { typ: 'any' })]
  const { oauth, token } = await oauthWorld(t, { issuers })
  await assert.rejects(async () => oauth.checkToken(external), { name: 'Problem', status: 503 })
  assertAccepted(await oauth.checkToken((await token()).body.access_token))
})

test('reads issuers from the configuration, with defaults', () => {
  const given = [{ issuer: 'https://id.example/', audience: 'bursar' }]
  const value = [
    {
      issuer: 'https://id.example/',
      jwksUri: undefined,
      audience: 'bursar',
      algorithms: ['ES256'],
      typ: 'at+jwt',
      scopeClaim: 'scope',
      clientClaim: 'client_id',
      clientCredentials,
    },
  ]
  assert.deepEqual(parseTrustedIssuers(given), { value })
  assert.deepEqual(parseTrustedIssuers(JSON.stringify(given)), { value })
  const local = [{ issuer: 'http://127.0.0.1:9000', audience: 'bursar' }]
  assert('value' in parseTrustedIssuers(local))
})

test('names every fault of the configured issuers', () => {
  const fault = (given: unknown) => {
    const parsed = parseTrustedIssuers(given)
    return 'fault' in parsed ? parsed.fault : ''
  }
  assert.equal(fault('{'), 'must be an array of at most 100 issuers')
  assert.equal(fault({}), 'must be an array of at most 100 issuers')
  const all = fault([
    { issuer: 'http://id.example', audience: '', algorithms: ['HS256'], scope: 'x' },
    7,
  ])
  assert.match(all, /\[0\] has scope, which is not a member of an issuer/)
  assert.match(all, /\[0\]\.issuer must be an https URL/)
  assert.match(all, /\[0\]\.audience must be text/)
  assert.match(all, /\[0\]\.algorithms must be a list of ES256/)
  assert.match(all, /\[1\]\.issuer must be text/)
  const twice = { issuer: 'https://id.example', audience: 'a' }
  assert.equal(fault([twice, twice]), 'names https://id.example twice')
  const marked = (clientCredentials: unknown) => fault([{ ...twice, clientCredentials }])
  for (const given of ['sub', {}, { claim: 'sub' }, { claim: '', value: 'x' }]) {
    assert.match(marked(given), /clientCredentials must be/, JSON.stringify(given))
  }
  assert.match(marked({ claim: 'client_id', value: '{client}' }), /compares client_id with itself/)
  const comparing = { ...twice, clientCredentials: { claim: 'client_id', value: '{client}' } }
  assert.equal(
    fault([{ ...comparing, jwksUri: 'http://id.example' }]),
    '[0].jwksUri must be an https URL (http only on a loopback address); [0].clientCredentials compares client_id with itself, so every token would pass',
  )
})

test('names every fault of the persons of an issuer', () => {
  const grant = { value: 'support', customer: '*', rights: ['look_up'] }
  const faultOf = (people: unknown): string => {
    const parsed = parseTrustedIssuers([{ issuer: 'https://id.example', audience: 'a', people }])
    return 'fault' in parsed ? parsed.fault : ''
  }
  const good = { clientId: 'console', claim: 'groups', grants: [grant] }
  assert.equal(faultOf(good), '')
  assert.equal(faultOf({ ...good, parameters: { resource: 'https://api.example' } }), '')
  assert.match(faultOf(7), /\[0\]\.people must be an object/)
  assert.match(faultOf({ grants: [grant] }), /clientId must be text.*claim must be text/)
  assert.match(faultOf({ ...good, colour: 1 }), /\[0\]\.people has colour, which is not a member/)
  const twice = faultOf({ ...good, colour: 1, grants: [{ ...grant, customer: '{customer}' }] })
  assert.match(
    twice,
    /has colour.*grants\[0\] must have \{customer\} once in value and as customer/,
  )
  for (const name of ['a', 'a\nb']) {
    const fault = faultOf({ ...good, parameters: { [name]: 1 } })
    assert.match(fault, /parameters must be an object of texts/, name)
  }
  assert.match(faultOf({ ...good, grants: [] }), /grants must be a list of grants/)
  for (const bad of [
    { ...grant, rights: [] },
    { ...grant, rights: ['all'] },
    { ...grant, value: '' },
    { ...grant, more: 1 },
    7,
  ]) {
    assert.match(faultOf({ ...good, grants: [bad] }), /the rights are look_up, see_full, export/)
  }
  for (const bad of [
    { ...grant, customer: '{customer}' },
    { ...grant, value: 'of {customer}' },
    { ...grant, value: '{customer}{customer}', customer: '{customer}' },
  ]) {
    assert.match(faultOf({ ...good, grants: [bad] }), /must have \{customer\} once in value/)
  }
})
