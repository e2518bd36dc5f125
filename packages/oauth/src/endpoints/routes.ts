import { networkOf, noMetrics } from '@bursar/base'
import { customerScopes, type PublicDocument, type Route } from '@bursar/contract'
import { assertionAlgorithms } from '../clients/clients.ts'
import { publishedKeys } from '../tokens/signing-keys.ts'
import { outcomeOf, renderOAuthError } from './oauth-error.ts'
import { answerToken, type TokenEndpointDeps, tokenPath } from './token-endpoint.ts'
import {
  answerIntrospection,
  answerRevocation,
  type TokenStateDeps,
} from './token-state-endpoints.ts'

const revocationPath = '/oauth2/revoke'
const introspectionPath = '/oauth2/introspect'
const keySetPath = '/.well-known/jwks.json'
const metadataPath = '/.well-known/oauth-authorization-server'
const openIdPath = '/.well-known/openid-configuration'

/** The endpoints that act on tokens. */
export function oauthRoutes(deps: TokenEndpointDeps & TokenStateDeps): readonly Route[] {
  const post = (path: string, answer: Route['answer']): Route => ({
    method: 'POST',
    path,
    operation: path,
    answer: async (request) => {
      // Before the form is parsed: a stranger has no client id yet.
      await deps.rateLimit(`address ${networkOf(request.address)}`, request.trace)
      return answer(request)
    },
    renderProblem: renderOAuthError,
  })
  return [
    counted(
      post(tokenPath, (request) => answerToken(request, deps)),
      deps.metrics,
    ),
    post(revocationPath, (request) => answerRevocation(request, deps)),
    post(introspectionPath, (request) => answerIntrospection(request, deps)),
  ]
}

/** The route of tokens, with each request counted by its outcome. */
const counted = (route: Route, metrics = noMetrics): Route => ({
  ...route,
  answer: async (request) => {
    try {
      const answer = await route.answer(request)
      metrics.count('bursar_token_requests_total', { outcome: 'issued' })
      return answer
    } catch (failure) {
      metrics.count('bursar_token_requests_total', { outcome: outcomeOf(failure) })
      throw failure
    }
  },
})

/** What clients and other servers read: metadata, and the public keys of token signatures. */
export function oauthDocuments({
  issuer,
  cache,
  clock,
}: Pick<TokenEndpointDeps, 'issuer' | 'cache' | 'clock'>): readonly PublicDocument[] {
  const document = (operation: string, read: () => object, suffix = ''): PublicDocument => ({
    path: operation + suffix,
    operation,
    contentType: 'application/json',
    // Short, so that other servers learn of a new key before many tokens are signed with it.
    cacheControl: 'public, max-age=60',
    body: () => JSON.stringify(read()),
  })
  const metadata = () => serverMetadata(issuer())
  const openId = () => ({ ...metadata(), ...openIdMembers })
  const keySet = () => ({ keys: publishedKeys(cache.current().signingKeys, clock()) })
  return [
    ...metadataSuffixes(issuer()).flatMap((suffix) => [
      document(metadataPath, metadata, suffix),
      document(openIdPath, openId, suffix),
    ]),
    { ...document(keySetPath, keySet), changes: true },
  ]
}

/**
 * What follows a well-known path: nothing, as a proxy passes it on that removes the issuer's path,
 * or that path itself (RFC 8414 sections 3.1 and 5). The port of an issuer may change until the
 * server listens, its path does not.
 */
function metadataSuffixes(issuer: string): readonly string[] {
  const path = new URL(issuer).pathname.replace(/\/$/, '')
  // The router gives other characters a meaning, so whatever follows the first one is accepted.
  return path === '' ? [''] : ['', path.replace(/[^\w./~-].*$/, '*')]
}

/** Authorization server metadata (RFC 8414 section 2). URLs come from configuration, not `Host`. */
function serverMetadata(issuer: string): object {
  const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']
  return {
    issuer,
    token_endpoint: issuer + tokenPath,
    jwks_uri: issuer + keySetPath,
    revocation_endpoint: issuer + revocationPath,
    introspection_endpoint: issuer + introspectionPath,
    scopes_supported: customerScopes,
    // Without response_types_supported: there is no authorization endpoint to have one, and RFC
    // 8414 section 3.2 forbids an empty list.
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    revocation_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    introspection_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
  }
}

/**
 * Bursar does not implement OpenID Connect, but some client libraries look there first and get
 * tokens with what they find. Others refuse a document without these members (OpenID Connect
 * Discovery section 3), which also requires RS256. No ID token is ever issued.
 */
const openIdMembers = {
  response_types_supported: ['none'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256', 'RS256'],
}
