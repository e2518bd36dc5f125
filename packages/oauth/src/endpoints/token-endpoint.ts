import assert from 'node:assert/strict'
import type { Metrics } from '@bursar/base'
import {
  type Answer,
  customerScopes,
  type Interfere,
  jsonAnswer,
  operatorScopes,
  type Request,
  scopesOf,
} from '@bursar/contract'
import type { Client } from '@bursar/records'
import { type AuthenticationDeps, authenticateClient } from '../clients/authenticate-client.ts'
import type { CredentialCache } from '../tokens/credential-cache.ts'
import { issueToken } from '../tokens/own-token.ts'
import type { SigningKey } from '../tokens/signing-keys.ts'
import { notStored, oauthError } from './oauth-error.ts'
import { readForm } from './read-form.ts'

export type TokenEndpointDeps = AuthenticationDeps & {
  readonly cache: CredentialCache
  readonly tokenLifeSeconds: number
  readonly metrics?: Metrics | undefined
  /** Where tests make requests fail. Only the sandbox has it. */
  readonly interfere?: Interfere | undefined
}

export const tokenPath = '/oauth2/token'

/** `POST /oauth2/token`: the client credentials grant (RFC 6749 section 4.4), and no other. */
export async function answerToken(request: Request, deps: TokenEndpointDeps): Promise<Answer> {
  const { cache, clock, log, tokenLifeSeconds: lifeSeconds } = deps
  cache.requireFresh()
  const form = await readForm(request)
  const client = await authenticateClient(request, form, deps)
  if (client.customerId !== null) {
    await deps.interfere?.(tokenPath, client.customerId, request.trace)
  }
  const grant = form.get('grant_type')
  if (grant === undefined) throw oauthError('invalid_request', 'grant_type must be set')
  if (grant !== 'client_credentials') {
    throw oauthError('unsupported_grant_type', 'grant_type must be client_credentials')
  }
  const scopes = grantScopes(form.get('scope'), client)
  const key = await currentKey(deps)
  const issuer = deps.issuer()
  const token = issueToken({ issuer, client, scopes, lifeSeconds, key, now: clock() })
  log.info({ client: client.id, address: request.address, outcome: 'issued' }, 'access token')
  const scope = scopes.join(' ')
  const body = { access_token: token, token_type: 'bearer', expires_in: lifeSeconds, scope }
  return jsonAnswer(body, notStored)
}

/**
 * The scopes to grant, in catalogue order. Unknown names are dropped, because existing clients send
 * one fixed list to every service. A known scope that the client does not have is refused.
 */
function grantScopes(requested: string | undefined, client: Client): readonly string[] {
  const allowed = scopesOf(client.customerId).filter((scope) => client.scopes.includes(scope))
  if (requested === undefined) return requireSome(allowed)
  // RFC 6749 section 3.3: blanks separate the names; no other white space, quote or backslash.
  if (!/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/.test(requested)) {
    throw oauthError('invalid_scope', 'scope must be names separated by blanks')
  }
  const available = [...customerScopes, ...operatorScopes]
  if (requested.includes(',') && available.some((scope) => requested.includes(scope))) {
    throw oauthError('invalid_scope', 'separate the scopes by blanks, not by commas')
  }
  const names = new Set(requested.split(' '))
  const known = available.filter((scope) => names.has(scope))
  if (known.some((scope) => !allowed.includes(scope))) {
    throw oauthError('invalid_scope', 'the client does not have one of these scopes')
  }
  // A `scope` of blanks alone counts as absent.
  return requireSome(requested.trim() === '' ? allowed : known)
}

function requireSome(scopes: readonly string[]): readonly string[] {
  if (scopes.length > 0) return scopes
  throw oauthError('invalid_scope', 'no scope is left that this service knows')
}

/** The key to sign with. Another process may have just made it, so an unknown id is looked up. */
async function currentKey({ cache, keyring }: TokenEndpointDeps): Promise<SigningKey> {
  const { id } = keyring.current('token-signing')
  if (!cache.current().signingKeys.has(id)) await cache.refresh()
  const key = cache.current().signingKeys.get(keyring.current('token-signing').id)
  assert(key !== undefined, 'The current signing key of the keyring has not been imported.')
  return key
}
