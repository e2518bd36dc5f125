import { type Answer, jsonAnswer, type Request } from '../../contract/request.ts'
import { customerScopes, operatorScopes, scopesOf } from '../../contract/scopes.ts'
import type { Client } from '../../store/credentials.ts'
import { type AuthenticationSources, authenticateClient } from '../clients/authenticate-client.ts'
import { issueToken } from '../tokens/own-token.ts'
import type { SigningKey } from '../tokens/signing-keys.ts'
import type { StateKeeper } from '../tokens/states.ts'
import { notStored, oauthError } from './oauth-error.ts'
import { type Form, readForm } from './read-form.ts'

export type TokenEndpointSources = AuthenticationSources & {
  readonly states: StateKeeper
  readonly tokenLifeSeconds: number
}

/** `POST /oauth2/token`: RFC 6749 section 4.4, the client credentials grant and no other. */
export async function answerToken(
  request: Request,
  sources: TokenEndpointSources,
): Promise<Answer> {
  const { states, clock, log, tokenLifeSeconds } = sources
  states.requireFresh()
  const form = await readForm(request)
  const client = await authenticateClient(request, form, sources)
  requireGrant(form)
  const scopes = grantScopes(form.get('scope'), client)
  const key = await currentKey(sources)
  const token = await issueToken({
    issuer: sources.issuer(),
    client,
    scopes,
    lifeSeconds: tokenLifeSeconds,
    key,
    now: clock(),
  })
  log.info({ client: client.id, address: request.address, outcome: 'issued' }, 'access token')
  const scope = scopes.join(' ')
  const body = { access_token: token, token_type: 'bearer', expires_in: tokenLifeSeconds, scope }
  return jsonAnswer(body, notStored)
}

function requireGrant(form: Form): void {
  const grant = form.get('grant_type')
  if (grant === undefined) throw oauthError(400, 'invalid_request', 'grant_type must be set')
  if (grant === 'client_credentials') return
  throw oauthError(400, 'unsupported_grant_type', 'grant_type must be client_credentials')
}

/**
 * The scopes to grant, in the catalogue's order. Nothing asked for is everything the client may have. Names that this
 * service does not know are dropped, since existing clients send one long fixed list to every service; a known one
 * that the client may not have is refused.
 */
function grantScopes(asked: string | undefined, client: Client): readonly string[] {
  const allowed = scopesOf(client.customerId).filter((scope) => client.scopes.includes(scope))
  if (asked === undefined) return requireSome(allowed)
  // RFC 6749 section 3.3: names are separated by blanks, and hold no other space, quote or backslash.
  if (!/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/.test(asked)) {
    throw oauthError(400, 'invalid_scope', 'scope must be names separated by blanks')
  }
  const names = new Set(asked.split(' '))
  const known = [...customerScopes, ...operatorScopes].filter((scope) => names.has(scope))
  if (known.some((scope) => !allowed.includes(scope))) {
    throw oauthError(400, 'invalid_scope', 'the client may not have one of these scopes')
  }
  // `scope=` of blanks alone names nothing, so it is as if it had been left out.
  return requireSome(asked.trim() === '' ? allowed : known)
}

function requireSome(scopes: readonly string[]): readonly string[] {
  if (scopes.length > 0) return scopes
  throw oauthError(400, 'invalid_scope', 'no scope is left that this service knows')
}

/** The key to sign with. Another process may have made it a moment ago. */
async function currentKey({ states, keyring }: TokenEndpointSources): Promise<SigningKey> {
  const { id } = keyring.current('token-signing')
  if (!states.current().signingKeys.has(id)) await states.refresh()
  const key = states.current().signingKeys.get(keyring.current('token-signing').id)
  if (key === undefined) throw new Error('The keyring and the imported signing keys disagree.')
  return key
}
