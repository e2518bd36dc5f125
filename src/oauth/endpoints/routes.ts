import { jsonAnswer, type Route } from '../../contract/request.ts'
import { publishedKeys } from '../tokens/signing-keys.ts'
import { serverMetadata } from './metadata.ts'
import { renderOAuthError } from './oauth-error.ts'
import { introspectionPath, keySetPath, metadataPath, revocationPath, tokenPath } from './paths.ts'
import { answerToken, type TokenEndpointSources } from './token-endpoint.ts'
import {
  answerIntrospection,
  answerRevocation,
  type TokenStateSources,
} from './token-states-endpoints.ts'

export type OAuthRouteSources = TokenEndpointSources & TokenStateSources

// Short, so that whoever verifies our tokens elsewhere hears of a new key before many are signed with it.
const briefly = { 'Cache-Control': 'public, max-age=60' }

/** Every endpoint of the authorization server, for a web server to mount. */
export function oauthRoutes(sources: OAuthRouteSources): readonly Route[] {
  const post = (path: string, answer: Route['answer']): Route => ({
    method: 'POST',
    path,
    operation: path,
    answer,
    renderProblem: renderOAuthError,
  })
  const document = (path: string, read: () => object): Route => ({
    method: 'GET',
    path,
    operation: path,
    answer: () => jsonAnswer(read(), briefly),
  })
  const metadata = () => serverMetadata(sources.issuer())
  return [
    post(tokenPath, (request) => answerToken(request, sources)),
    post(revocationPath, (request) => answerRevocation(request, sources)),
    post(introspectionPath, (request) => answerIntrospection(request, sources)),
    document(metadataPath, metadata),
    // Not OpenID Connect, but where several client libraries look first.
    document('/.well-known/openid-configuration', metadata),
    document(keySetPath, () => ({
      keys: publishedKeys(sources.states.current().signingKeys, sources.clock()),
    })),
  ]
}
