import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemTime } from '@bursar/base'
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify } from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { ClientCredentials } from 'simple-oauth2'
import { createClient, createSampleClient, readClientKeys } from '../src/clients/clients.ts'
import { assertAccepted } from './support/assert-checked.ts'
import { acme, acmeScopes, oauthWorld } from './support/oauth-world.ts'

const [readFiat = ''] = acmeScopes
const insecure = { execute: [openid.allowInsecureRequests] }
const realTime = { clock: systemTime.now }

for (const algorithm of ['oidc', 'oauth2'] as const) {
  test(`openid-client finds the server by ${algorithm} discovery and gets a token by Basic`, async (t) => {
    const { oauth: server, url } = await oauthWorld(t, realTime)
    const config = await openid.discovery(
      new URL(url),
      acme.id,
      undefined,
      openid.ClientSecretBasic(acme.secret),
      { ...insecure, algorithm },
    )
    const answer = await openid.clientCredentialsGrant(config, { scope: readFiat })
    assert.deepEqual(
      [answer.token_type, answer.scope, answer.expires_in],
      ['bearer', readFiat, 900],
    )
    const principal = await server.checkToken(answer.access_token)
    assertAccepted(principal)
    assert.deepEqual([principal.clientId, principal.tenant], [acme.id, 'acme'])
  })
}

test('openid-client gets a token by body without a scope', async (t) => {
  const { url } = await oauthWorld(t, realTime)
  const method = openid.ClientSecretPost(acme.secret)
  const config = await openid.discovery(new URL(url), acme.id, undefined, method, insecure)
  const answer = await openid.clientCredentialsGrant(config)
  assert.equal(answer.scope, acmeScopes.join(' '))
})

test('openid-client gets a token by private_key_jwt', async (t) => {
  const { command, oauth: server, url } = await oauthWorld(t, realTime)
  for (const algorithm of ['ES256', 'PS256', 'Ed25519']) {
    const pair = await generateKeyPair(algorithm, { extractable: true })
    const read = await readClientKeys(JSON.stringify(await exportJWK(pair.publicKey)))
    assert('jwks' in read)
    const method = { kind: 'keys', jwks: read.jwks } as const
    const wanted = { customerId: 'acme', name: 'Keys', scopes: undefined, method }
    const made = await createClient(command, wanted)
    assert('client' in made)
    const config = await openid.discovery(
      new URL(url),
      made.client.id,
      undefined,
      openid.PrivateKeyJwt(pair.privateKey),
      insecure,
    )
    const answer = await openid.clientCredentialsGrant(config, { scope: readFiat })
    assertAccepted(await server.checkToken(answer.access_token))
  }
})

test('openid-client introspects, revokes, and introspects again', async (t) => {
  const { url } = await oauthWorld(t, realTime)
  const config = await openid.discovery(new URL(url), acme.id, acme.secret, undefined, insecure)
  const { access_token } = await openid.clientCredentialsGrant(config)
  assert.equal((await openid.tokenIntrospection(config, access_token)).customer_id, 'acme')
  await openid.tokenRevocation(config, access_token)
  assert.deepEqual(await openid.tokenIntrospection(config, access_token), { active: false })
})

test('oauth4webapi gets a token by Basic with form-encoded characters', async (t) => {
  const { command, url } = await oauthWorld(t, realTime)
  const odd = { id: 'cust:b+%', secret: 'space : + % / =', customerId: 'acme' }
  await createSampleClient(command, { ...odd, name: 'Odd', scopes: acmeScopes })
  const options = { [oauth.allowInsecureRequests]: true }
  const found = await oauth.discoveryRequest(new URL(url), { ...options, algorithm: 'oauth2' })
  const server = await oauth.processDiscoveryResponse(new URL(url), found)
  for (const { id, secret } of [acme, odd]) {
    const client = { client_id: id }
    const authentication = oauth.ClientSecretBasic(secret)
    const parameters = { scope: readFiat }
    const answer = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authentication,
      parameters,
      options,
    )
    const token = await oauth.processClientCredentialsResponse(server, client, answer)
    assert.equal(token.scope, readFiat)
  }
})

test('oauth4webapi reads an error', async (t) => {
  const { url } = await oauthWorld(t, realTime)
  const config = await openid.discovery(new URL(url), acme.id, 'wrong', undefined, insecure)
  await assert.rejects(openid.clientCredentialsGrant(config), {
    error: 'invalid_client',
    status: 401,
  })
})

for (const authorizationMethod of ['header', 'body'] as const) {
  test(`simple-oauth2 gets a token by ${authorizationMethod}`, async (t) => {
    const { oauth: server, url } = await oauthWorld(t, realTime)
    const client = new ClientCredentials({
      client: { id: acme.id, secret: acme.secret },
      auth: { tokenHost: url, tokenPath: '/oauth2/token' },
      options: { authorizationMethod },
    })
    const { token } = await client.getToken({ scope: [readFiat] })
    assert.equal(token.scope, readFiat)
    assertAccepted(await server.checkToken(String(token.access_token)))
  })
}

test('jose verifies a token with the published keys alone', async (t) => {
  const { token, url } = await oauthWorld(t, realTime)
  const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`))
  const { access_token } = (await token()).body
  const options = { issuer: url, audience: url, typ: 'at+jwt', algorithms: ['ES256'] }
  const { payload } = await jwtVerify(access_token, keys, options)
  assert.equal(payload.client_id, acme.id)
})
