import { customerScopes } from '../../contract/scopes.ts'
import { assertionAlgorithms } from '../clients/clients.ts'
import { introspectionPath, keySetPath, revocationPath, tokenPath } from './paths.ts'

const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']

/** The authorization server's metadata (RFC 8414 section 2). Its addresses come from configuration, never from Host. */
export function serverMetadata(issuer: string): object {
  return {
    issuer,
    token_endpoint: issuer + tokenPath,
    jwks_uri: issuer + keySetPath,
    revocation_endpoint: issuer + revocationPath,
    introspection_endpoint: issuer + introspectionPath,
    scopes_supported: customerScopes,
    // Required by RFC 8414; there is no authorization endpoint, so no response type either.
    response_types_supported: [],
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    revocation_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    introspection_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
  }
}
