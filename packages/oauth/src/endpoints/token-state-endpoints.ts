import { type Answer, jsonAnswer, type Request } from '@bursar/contract'
import { type Client, doing } from '@bursar/records'
import { type AuthenticationDeps, authenticateClient } from '../clients/authenticate-client.ts'
import { type ClientToken, readToken, type TokenDeps } from '../tokens/read-token.ts'
import { isRefusal } from '../tokens/refusal.ts'
import { notStored, oauthError } from './oauth-error.ts'
import { readForm } from './read-form.ts'

export type TokenStateDeps = AuthenticationDeps & TokenDeps

/** `POST /oauth2/introspect` (RFC 7662). A foreign client's token is reported as not active. */
export async function answerIntrospection(request: Request, deps: TokenStateDeps): Promise<Answer> {
  const { valid } = await readOwn(request, deps)
  if (valid === undefined) return jsonAnswer({ active: false }, notStored)
  const { claims, client, scopes } = valid
  const body = {
    active: true,
    token_type: 'Bearer',
    client_id: client.id,
    customer_id: client.customerId,
    scope: scopes.join(' '),
    iss: claims.issuer,
    sub: claims.clientId,
    iat: claims.issuedAt,
    exp: Math.floor(claims.expiresAt),
    ...(claims.issuer === deps.issuer() && { aud: claims.issuer }),
    ...(claims.tokenId !== undefined && { jti: claims.tokenId }),
  }
  return jsonAnswer(body, notStored)
}

/**
 * `POST /oauth2/revoke` (RFC 7009 section 2.1): denies a token that was issued to the caller. Any
 * other gets the answer for an unknown token.
 */
export async function answerRevocation(request: Request, deps: TokenStateDeps): Promise<Answer> {
  const { caller, valid } = await readOwn(request, deps)
  const tokenId = valid?.claims.tokenId
  // Clients of other issuers cannot authenticate here, so their tokens are never revoked.
  const isHolder = valid !== undefined && valid.client.id === caller.id
  if (isHolder && tokenId !== undefined && valid.claims.issuer === deps.issuer()) {
    const { store, cache, clock, log } = deps
    request.trace.client = caller.id
    const deed = { action: 'revoke_token', ids: [tokenId] } as const
    const end = BigInt(Math.ceil(valid.claims.expiresAt)) * 1_000_000n
    await doing(deed, async () => {
      await store.denyToken(tokenId, end, clock())
      await cache.refresh()
    })
    log.info({ client: valid.client.id, by: caller.id, outcome: 'revoked' }, 'access token')
    return { ...revoked, deed }
  }
  return revoked
}

const revoked: Answer = { status: 200, headers: notStored, body: '' }

/** The client that sends the request, and the token if it is valid and not foreign to it. */
async function readOwn(
  request: Request,
  deps: TokenStateDeps,
): Promise<{ caller: Client; valid: ClientToken | undefined }> {
  deps.cache.requireFresh()
  const form = await readForm(request)
  const caller = await authenticateClient(request, form, deps)
  const token = form.get('token')
  if (token === undefined) throw oauthError('invalid_request', 'token must be set')
  const valid = await readToken(token, deps)
  // Persons are no clients, so their tokens are unknown here.
  if (isRefusal(valid) || 'person' in valid) return { caller, valid: undefined }
  return { caller, valid: isForeign(valid.client, caller) ? undefined : valid }
}

/** To a client that is bound to a customer, the operator's other clients are foreign too. */
const isForeign = ({ customerId, boundTo }: Client, caller: Client): boolean =>
  customerId !== caller.customerId || (caller.boundTo !== null && boundTo !== caller.boundTo)
