import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createClient, disableClient } from '../../src/oauth/clients/clients.ts'
import { parseTrustedIssuers, type TrustedIssuer } from '../../src/platform/trusted-issuers.ts'
import { until } from '../support/until.ts'
import { acme, oauthWorld } from './support/oauth-world.ts'
import { startProcess } from './support/process.ts'

const readFiat = 'transfer:read_fiat_account'

/** A server that trusts an issuer in another process, and Acme's client of that issuer. */
async function issuerWorld(context: TestContext, changes: Partial<TrustedIssuer> = {}) {
  const issuer = await startProcess(context, './issuer-process.ts')
  const trusted: TrustedIssuer = {
    ...{ issuer: issuer.url, jwksUri: undefined, audience: 'bursar', algorithms: ['RS256'] },
    ...{ typ: 'at+jwt', scopeClaim: 'scp', clientClaim: 'azp', ...changes },
  }
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
    const good = { aud: 'bursar', azp: 'ext-acme', scp: [readFiat], iat: now, exp: now + 300 }
    return (await order('/sign', { claims: { ...good, ...claims }, header })).token
  }
  const verify = async (token: string) => world.oauth.verify(token)
  return { ...world, issuer, client: made.client, order, sign, verify }
}

test('accepts a token of a trusted issuer for the customer of its client', async (t) => {
  const { client, sign, verify } = await issuerWorld(t)
  const token = await sign({ scp: [readFiat, 'statements:read_statement'], customer_id: 'globex' })
  assert.deepEqual(await verify(token), {
    clientId: client.id,
    tenant: 'acme',
    scopes: new Set([readFiat]),
  })
  assert.equal(await verify(token), await verify(token))
})

test('accepts an audience in an array, and keys of a configured URL', async (t) => {
  const first = await issuerWorld(t)
  assert.notEqual(await first.verify(await first.sign({ aud: ['account', 'bursar'] })), 'invalid')
  const jwksUri = `${first.issuer.url}/keys`
  const issuers = [
    {
      ...{ issuer: first.issuer.url, jwksUri, audience: 'bursar', algorithms: ['RS256'] },
      ...{ typ: 'any', scopeClaim: 'scope', clientClaim: 'client_id' },
    },
  ]
  const second = await oauthWorld(t, { issuers })
  const method = { kind: 'issuer', issuer: first.issuer.url, externalId: 'ext-2' } as const
  await createClient(second.command, { customerId: 'acme', name: 'x', scopes: undefined, method })
  await second.oauth.refresh()
  const claims = { azp: null, client_id: 'ext-2', scp: null, scope: `${readFiat} x` }
  const principal = await second.oauth.verify(await first.sign(claims, { typ: 'JWT' }))
  assert(principal !== 'invalid')
  assert.deepEqual([...principal.scopes], [readFiat])
})

test('refuses what the issuer’s configuration does not allow', async (t) => {
  const { clock, sign, verify } = await issuerWorld(t)
  const now = Number(clock() / 1_000_000n)
  const claims: readonly object[] = [
    ...[{ aud: 'other' }, { aud: null }, { azp: null }, { azp: 'ext-unknown' }],
    ...[{ azp: acme.id, client_id: acme.id }, { iss: 'https://evil.example' }],
    ...[{ exp: null }, { iat: null }, { exp: now - 31 }, { iat: now + 31 }],
    ...[{ exp: now + 86_401 }, { nbf: now + 31 }, { scp: 7 }],
  ]
  for (const changes of claims) {
    assert.equal(await verify(await sign(changes)), 'invalid', JSON.stringify(changes))
  }
  for (const header of [{ typ: 'JWT' }, { typ: null }, { alg: 'PS256' }, { alg: 'RS512' }]) {
    assert.equal(await verify(await sign({}, header)), 'invalid', JSON.stringify(header))
  }
  assert.notEqual(await verify(await sign({ exp: now - 29, iat: now - 60 })), 'invalid')
})

test('refuses a token of the issuer that names a Bursar client', async (t) => {
  const { sign, url, verify } = await issuerWorld(t)
  const claims = { iss: url, aud: url, sub: acme.id, client_id: acme.id, scope: readFiat, jti: 'j' }
  assert.equal(await verify(await sign(claims)), 'invalid')
})

test('refuses a disabled external client, and records its last use', async (t) => {
  const { client, clock, command, oauth, sign, verify } = await issuerWorld(t)
  const token = await sign()
  assert.notEqual(await verify(token), 'invalid')
  const lastUsedAt = async () => (await command.store.findClient(client.id))?.lastUsedAt
  await until(async () => (await lastUsedAt()) === clock())
  await disableClient(command, client.id)
  await oauth.refresh()
  assert.equal(await verify(token), 'invalid')
})

test('issues no token to an external client', async (t) => {
  const { client, token } = await issuerWorld(t)
  assert.equal((await token({ client_id: client.id, client_secret: 'x' })).status, 401)
})

test('follows a rotation of the issuer’s keys, and refuses tokens of the old key', async (t) => {
  const { oauth, order, sign, verify } = await issuerWorld(t)
  const older = await sign()
  assert.notEqual(await verify(older), 'invalid')
  await order('/rotate')
  await oauth.refresh()
  assert.equal(await verify(older), 'invalid')
  assert.notEqual(await verify(await sign()), 'invalid')
})

test('fetches keys for an unknown key id at most every thirty seconds', async (t) => {
  const { clock, oauth, order, sign, verify } = await issuerWorld(t)
  await order('/rotate')
  const token = await sign()
  const asked = async () => (await order('/sign')).asked
  const before = await asked()
  for (const answer of await Promise.all(Array.from({ length: 20 }, () => verify(token)))) {
    assert.equal(answer, 'invalid')
  }
  assert.equal(await asked(), before)
  clock.advance(30)
  const answers = await Promise.all(Array.from({ length: 20 }, () => verify(token)))
  assert(answers.every((answer) => answer !== 'invalid'))
  assert.equal(await asked(), before + 1)
  await oauth.refresh()
})

for (const mode of ['failing', 'redirecting', 'huge', 'doubled', 'no set']) {
  test(`keeps the known keys while the issuer is ${mode}`, async (t) => {
    const { oauth, order, sign, verify } = await issuerWorld(t)
    const token = await sign()
    await order('/mode', { mode })
    await order('/rotate')
    await oauth.refresh()
    assert.notEqual(await verify(token), 'invalid')
    assert.equal(await verify(await sign()), 'invalid')
  })
}

test('ignores shared secrets and weak keys in a key set', async (t) => {
  const { oauth, order, sign, verify } = await issuerWorld(t)
  const token = await sign()
  for (const mode of ['secret', 'broken']) {
    await order('/mode', { mode })
    await oauth.refresh()
    assert.equal(await verify(token), 'invalid', mode)
  }
})

test('accepts tokens for a day while the issuer is down, then answers 503 for them alone', async (t) => {
  const { clock, issuer, oauth, sign, token, verify } = await issuerWorld(t)
  const now = Number(clock() / 1_000_000n)
  const external = await sign({ iat: now + 20, exp: now + 86_420 })
  await issuer.kill()
  clock.advance(86_400)
  await oauth.refresh()
  assert.notEqual(await verify(external), 'invalid')
  clock.advance(10)
  await oauth.refresh()
  assert.notEqual(await verify((await token()).body.access_token), 'invalid')
  clock.advance(51)
  await oauth.refresh()
  await assert.rejects(verify(external), { name: 'Problem', status: 503 })
})

test('starts while an issuer is down, and answers 503 for its tokens until it is up', async (t) => {
  const { issuer, sign } = await issuerWorld(t)
  const external = await sign()
  await issuer.kill()
  const { oauth, token } = await oauthWorld(t, {
    issuers: [
      {
        ...{ issuer: issuer.url, jwksUri: undefined, audience: 'bursar', algorithms: ['RS256'] },
        ...{ typ: 'any', scopeClaim: 'scp', clientClaim: 'azp' },
      },
    ],
  })
  await assert.rejects(async () => oauth.verify(external), { name: 'Problem', status: 503 })
  assert.notEqual(await oauth.verify((await token()).body.access_token), 'invalid')
})

test('reads issuers from the configuration, with defaults', () => {
  const given = [{ issuer: 'https://id.example/', audience: 'bursar' }]
  const value = [
    {
      ...{ issuer: 'https://id.example/', jwksUri: undefined, audience: 'bursar' },
      ...{ algorithms: ['ES256'], typ: 'at+jwt', scopeClaim: 'scope', clientClaim: 'client_id' },
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
})
