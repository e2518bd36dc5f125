import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetchToken } from '../../../test/support/harness.ts'
import { createSampleClient, disableClient } from '../src/clients/clients.ts'
import { confirmClients, startRecovery } from '../src/clients/confirm-clients.ts'
import { assertAccepted, assertRefused } from './support/assert-checked.ts'
import { linesOfLog } from './support/lines-of-log.ts'
import { acme, acmeScopes, oauthWorld } from './support/oauth-world.ts'

const asAcme = { client_id: acme.id, client_secret: acme.secret }
const asGlobex = { client_id: 'client_globex', client_secret: 'globex_secret_1' }

test('introspects a token of the same customer, and names the customer', async (t) => {
  const { clock, post, token, url } = await oauthWorld(t)
  const { access_token } = (await token()).body
  const { status, headers, body } = await post('/oauth2/introspect', {
    ...asAcme,
    token: access_token,
  })
  const iat = Number(clock() / 1_000_000n)
  const { jti, ...rest } = body
  assert.equal(status, 200)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(typeof jti, 'string')
  assert.deepEqual(rest, {
    active: true,
    token_type: 'Bearer',
    client_id: acme.id,
    customer_id: 'acme',
    scope: acmeScopes.join(' '),
    iss: url,
    sub: acme.id,
    iat,
    exp: iat + 900,
    aud: url,
  })
})

test('answers "not active" alike for a foreign, a made-up, an expired and a revoked token', async (t) => {
  const { clock, oauth, post, token } = await oauthWorld(t)
  const introspect = async (of: object, by = asAcme) =>
    (await post('/oauth2/introspect', { ...by, ...of, token_type_hint: 'refresh_token' })).body
  const [first, second] = [(await token()).body.access_token, (await token()).body.access_token]
  assert.deepEqual(await introspect({ token: first }, asGlobex), { active: false })
  assert.deepEqual(await introspect({ token: 'no.such.token' }), { active: false })
  await post('/oauth2/revoke', { ...asAcme, token: first })
  assert.deepEqual(await introspect({ token: first }), { active: false })
  assert.equal((await introspect({ token: second })).active, true)
  clock.advance(900)
  await oauth.refresh()
  assert.deepEqual(await introspect({ token: second }), { active: false })
})

test('a client that is bound to a customer learns nothing of the operator’s other tokens', async (t) => {
  const { command, post, url } = await oauthWorld(t)
  const clientOf = async (name: string, boundTo: string | null) => {
    const sample = { id: `client_${name}`, secret: `secret_${name}`, customerId: null, boundTo }
    await createSampleClient(command, { ...sample, name, scopes: ['ingest:write_statements'] })
    return { client_id: sample.id, client_secret: sample.secret }
  }
  const clients = [
    await clientOf('core', null),
    await clientOf('acme_1', 'acme'),
    await clientOf('acme_2', 'acme'),
    await clientOf('globex_1', 'globex'),
  ]
  const tokens = await Promise.all(
    clients.map(({ client_id: clientId, client_secret: clientSecret }) =>
      fetchToken(url, { customerId: '', clientId, clientSecret }),
    ),
  )
  const seenBy = async (by: object) => {
    const answers = tokens.map((token) => post('/oauth2/introspect', { ...by, token }))
    return (await Promise.all(answers)).map(({ body }) => body.active)
  }
  const [core = {}, acme1 = {}, , globex = {}] = clients
  assert.deepEqual(await seenBy(core), [true, true, true, true])
  assert.deepEqual(await seenBy(acme1), [false, true, true, false])
  assert.deepEqual(await seenBy(globex), [false, false, false, true])
  const foreign = await post('/oauth2/introspect', { ...globex, token: tokens[1] ?? '' })
  assert.deepEqual(foreign.body, { active: false })
})

test('refuses a revoked token at once on this server and after a poll on another', async (t) => {
  const { oauth, post, token } = await oauthWorld(t)
  const { access_token } = (await token()).body
  assertAccepted(await oauth.checkToken(access_token))
  const answer = await post('/oauth2/revoke', { ...asAcme, token: access_token })
  assert.deepEqual([answer.status, answer.body], [200, ''])
  assertRefused(await oauth.checkToken(access_token))
  assert.equal((await post('/oauth2/revoke', { ...asAcme, token: access_token })).status, 200)
})

test('does not revoke another customer’s token, and gives the same answer', async (t) => {
  const { oauth, post, token } = await oauthWorld(t)
  const { access_token } = (await token()).body
  const foreign = await post('/oauth2/revoke', { ...asGlobex, token: access_token })
  const unknown = await post('/oauth2/revoke', { ...asGlobex, token: 'no.such.token' })
  assert.deepEqual([foreign.status, foreign.body], [unknown.status, unknown.body])
  assertAccepted(await oauth.checkToken(access_token))
})

test('does not let another client of the same customer revoke', async (t) => {
  const { command, oauth, post, token } = await oauthWorld(t)
  const other = { id: 'client_acme_2', secret: 'second', customerId: 'acme' }
  await createSampleClient(command, { ...other, name: 'Acme 2', scopes: acmeScopes })
  const { access_token } = (await token()).body
  const by = { client_id: other.id, client_secret: other.secret }
  const answer = await post('/oauth2/revoke', { ...by, token: access_token })
  assert.deepEqual([answer.status, answer.body], [200, ''])
  assertAccepted(await oauth.checkToken(access_token))
})

for (const path of ['/oauth2/revoke', '/oauth2/introspect']) {
  test(`${path} requires client authentication and a token`, async (t) => {
    const { post } = await oauthWorld(t)
    const cases = [
      await post(path, { token: 'x' }),
      await post(path, { ...asAcme, client_secret: 'no', token: 'x' }),
      await post(path, asAcme),
      await post(path, asAcme, { query: '?token=x' }),
    ]
    assert.deepEqual(
      cases.map(({ status, body }) => [status, body.error]),
      [
        [401, 'invalid_client'],
        [401, 'invalid_client'],
        [400, 'invalid_request'],
        [400, 'invalid_request'],
      ],
    )
  })
}

test('a disabled client gets no token and its old ones are refused after the next poll', async (t) => {
  const { command, oauth, token } = await oauthWorld(t)
  const { access_token } = (await token()).body
  await disableClient(command, acme.id)
  assert.equal((await token()).status, 401)
  await oauth.refresh()
  assertRefused(await oauth.checkToken(access_token))
})

test('after a restore every request answers 503 until the clients are confirmed; no old token or key counts', async (t) => {
  const { lines, log } = linesOfLog()
  const { clock, command, oauth, post, token } = await oauthWorld(t, { log })
  const { access_token } = (await token()).body
  const leaked = command.keyring.current('token-signing').id
  const states = () => [
    oauth.freshness().awaitsClients,
    lines().filter((line) => /restored/.test(line)).length,
  ]
  assert.deepEqual(states(), [false, 0])

  const quotes = {
    times: async () => ({ now: clock(), newestQuote: undefined }),
    resetSweep: async () => {},
  }
  await startRecovery({ store: command.store, quotes }, clock())
  await oauth.refresh()
  clock.advance(1)
  const refused = await token()
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '60'])
  assert.match(refused.body.detail, /^the service is being restored/)
  assert.throws(() => oauth.checkToken(access_token), { name: 'Problem', status: 503 })
  assert.equal((await post('/oauth2/introspect', { ...asAcme, token: access_token })).status, 503)
  await oauth.refresh()
  assert.deepEqual(states(), [true, 1])

  await confirmClients(command, command.keyring)
  await oauth.refresh()
  assertRefused(await oauth.checkToken(access_token))
  assertAccepted(await oauth.checkToken((await token()).body.access_token))
  assert.equal(command.keyring.byId(leaked), undefined)
  assert.deepEqual(states(), [false, 2])
  await command.store.endRecovery(clock())
  await oauth.refresh()
  assert.match(lines().at(-1) ?? '', /the store is reconciled/)
})

test('publishes the signing key, the next key, and the last key until it has retired', async (t) => {
  const { clock, command, oauth, send } = await oauthWorld(t)
  const published = async () => (await send('/.well-known/jwks.json', {})).body.keys
  const [first] = await published()
  assert.deepEqual(Object.keys(first), ['kty', 'crv', 'x', 'y', 'kid', 'alg', 'use'])
  const next = await command.keyring.rotate('token-signing', { revokeOthers: false })
  await oauth.refresh()
  const ids = async () => (await published()).map(({ kid }: { kid: string }) => kid)
  assert.deepEqual(await ids(), [first.kid, next.id])
  clock.advance(3600 + 5 + 5)
  assert.deepEqual(await ids(), [next.id])
})
