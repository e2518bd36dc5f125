/**
 * An OpenID provider in its own process, with pages where anybody can sign in under any name. The
 * name decides the groups. Words: its port, and the console's URL.
 */
import { Provider } from 'oidc-provider'

// It warns about what a test may do.
console.warn = () => {}
console.info = () => {}

const [port = '', redirectUri = '', tokenLife = '300'] = process.argv.slice(2)
const issuer = `http://127.0.0.1:${port}`

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'console',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [redirectUri],
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

provider.listen(Number(port), '127.0.0.1', () => console.log(issuer))
