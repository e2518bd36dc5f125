import type { PublicDocument } from '../../contract/document.ts'
import type { Route } from '../../contract/request.ts'
import { customerScopes } from '../../contract/scopes.ts'
import { noMetrics } from '../../platform/metrics/metrics.ts'
import { networkOf } from '../../values/ip-network.ts'
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
  const document = (path: string, read: () => object): PublicDocument => ({
    path,
    operation: path,
    contentType: 'application/json',
    // Short, so that other servers learn of a new key before many tokens are signed with it.
    cacheControl: 'public, max-age=60',
    body: () => JSON.stringify(read()),
  })
  const metadata = () => serverMetadata(issuer())
  const keySet = () => ({ keys: publishedKeys(cache.current().signingKeys, clock()) })
  return [
    document(metadataPath, metadata),
    // Bursar does not implement OpenID Connect, but some client libraries look here first.
    document('/.well-known/openid-configuration', metadata),
    { ...document(keySetPath, keySet), changes: true },
  ]
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
    // RFC 8414 requires response_types_supported, but there is no authorization endpoint to have
    // one. Authlib refuses an empty list, and every known client reads metadata without it.
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    revocation_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    introspection_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
  }
}
