import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unreadLog } from '../../../test/support/harness.ts'
import { staticDocument } from '../../server/src/documents/static-document.ts'
import { buildServer } from '../../server/src/server/build-server.ts'
import { oauthWorld } from './support/oauth-world.ts'

const places = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']

test('serves metadata with the configured URL, whatever host a request names', async (t) => {
  const { send, url } = await oauthWorld(t)
  for (const place of places) {
    const { status, body } = await send(place, { headers: { 'x-forwarded-host': 'evil.example' } })
    assert.deepEqual([status, body.issuer], [200, url], place)
    assert.equal(body.token_endpoint, `${url}/oauth2/token`, place)
    assert.equal(body.jwks_uri, `${url}/.well-known/jwks.json`, place)
    assert.deepEqual(body.grant_types_supported, ['client_credentials'], place)
    assert(
      Object.values(body).every((value) => !Array.isArray(value) || value.length > 0),
      place,
    )
  }
})

test('gives OpenID Connect’s place alone the members that OpenID Connect requires', async (t) => {
  const { send } = await oauthWorld(t)
  const [{ body: metadata }, { body: openId }] = await Promise.all([
    send('/.well-known/oauth-authorization-server', {}),
    send('/.well-known/openid-configuration', {}),
  ])
  assert.ok(!('response_types_supported' in metadata), 'an empty list is left out')
  assert.deepEqual(openId, {
    ...metadata,
    response_types_supported: ['none'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256', 'RS256'],
  })
})

test('serves the metadata of an issuer with a path where RFC 8414 puts it', async (t) => {
  for (const path of ['/pay', '/eu/pay/v2.0', '/pay:v1', '/p*y/a', '/caf%C3%A9 (1)', '/:any/x']) {
    const issuer = `https://host.example${path}`
    const { oauth } = await oauthWorld(t, { issuer })
    const server = await buildServer({
      idleConnectionSeconds: 620,
      log: unreadLog(),
      corsOrigins: [],
      trustedProxies: [],
      routes: oauth.documents.map(staticDocument),
    })
    t.after(server.close)
    const url = await server.listen('127.0.0.1', 0)
    const { pathname } = new URL(issuer)
    for (const place of places) {
      for (const at of [place, place + pathname]) {
        const answer = await fetch(url + at)
        assert.equal(answer.status, 200, at)
        assert.equal(JSON.parse(await answer.text()).issuer, issuer, at)
      }
      const others = [`${place}x`, `${pathname}${place}`]
      // The router gives other characters a meaning, so more paths are served.
      const isPlain = /^[\w./]+$/.test(path)
      if (isPlain) others.push(`${place}/`, `${place}/other`, `${place}${pathname}/x`)
      for (const at of others) assert.equal((await fetch(url + at)).status, 404, at)
    }
  }
})

test('serves metadata at no other path of an issuer without one', async (t) => {
  const { send } = await oauthWorld(t)
  for (const place of places) assert.equal((await send(`${place}/pay`, {})).status, 404)
})
