/**
 * An OpenID provider in its own process, with pages where anybody can sign in under any name. The
 * name decides the groups. The word: how many seconds an access token lives.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'

// It warns about what a test may do.
console.warn = () => {}
console.info = () => {}

const [tokenLife = '300'] = process.argv.slice(2)
const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
assert.ok(typeof address === 'object' && address !== null)
const issuer = `http://127.0.0.1:${address.port}`

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'console',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      // A native client may come back to any port of its machine (RFC 8252, section 7.3).
      redirect_uris: ['http://127.0.0.1/console/'],
    },
  ],
  clientBasedCORS: () => true,
  pkce: { required: () => true },
  issueRefreshToken: async () => true,
  cookies: { keys: ['a key of the test'] },
  features: {
    devInteractions: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: 'openid',
        audience: 'bursar',
        accessTokenFormat: 'jwt',
        accessTokenTTL: Number(tokenLife),
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  // `lead-ada` is of the group `lead`, and `finance-borealis-bo` of `finance/borealis`.
  extraTokenClaims: (_context, token) => {
    const name = 'accountId' in token ? String(token.accountId) : ''
    return { groups: [name.split('-').slice(0, -1).join('/')] }
  },
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
})

server.on('request', provider.callback())
console.log(issuer)
