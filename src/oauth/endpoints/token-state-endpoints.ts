import { type Answer, jsonAnswer, type Request } from '../../contract/request.ts'
import type { Client } from '../../store/credentials.ts'
import { type AuthenticationDeps, authenticateClient } from '../clients/authenticate-client.ts'
import { readToken, type TokenDeps, type ValidToken } from '../tokens/read-token.ts'
import { notStored, oauthError } from './oauth-error.ts'
import { type Form, readForm } from './read-form.ts'

export type TokenStateDeps = AuthenticationDeps & TokenDeps

/**
 * `POST /oauth2/introspect` (RFC 7662): the claims of a valid token of the caller's own customer.
 * For every other token, including a valid one of another customer, the answer is "not active".
 */
export async function answerIntrospection(request: Request, deps: TokenStateDeps): Promise<Answer> {
  const { caller, form } = await readRequest(request, deps)
  const valid = await findOwnToken(form, caller, deps)
  if (valid === undefined) return jsonAnswer({ active: false }, notStored)
  const { claims, client, scopes } = valid
  return jsonAnswer(
    {
      active: true,
      token_type: 'Bearer',
      client_id: client.id,
      customer_id: client.customerId,
      scope: scopes.join(' '),
      iss: claims.issuer,
      sub: claims.clientId,
      iat: claims.issuedAt,
      exp: claims.expiresAt,
      ...(claims.issuer === deps.issuer() && { aud: claims.issuer }),
      ...(claims.tokenId !== undefined && { jti: claims.tokenId }),
    },
    notStored,
  )
}

/**
 * `POST /oauth2/revoke` (RFC 7009): denies a token of the caller's own customer. This process
 * refuses it at once, the others after their next poll. Other tokens are left alone; the answer is
 * the same.
 */
export async function answerRevocation(request: Request, deps: TokenStateDeps): Promise<Answer> {
  const { caller, form } = await readRequest(request, deps)
  const valid = await findOwnToken(form, caller, deps)
  const tokenId = valid?.claims.tokenId
  // Clients of other issuers cannot authenticate here, so their tokens are never revoked.
  if (valid !== undefined && tokenId !== undefined && valid.claims.issuer === deps.issuer()) {
    const { store, cache, clock, log } = deps
    await store.denyToken(tokenId, BigInt(Math.ceil(valid.claims.expiresAt)) * 1_000_000n, clock())
    await cache.refresh()
    log.info({ client: valid.client.id, by: caller.id, outcome: 'revoked' }, 'access token')
  }
  return { status: 200, headers: notStored, body: '' }
}

async function readRequest(request: Request, deps: TokenStateDeps) {
  deps.cache.requireFresh()
  const form = await readForm(request)
  const caller = await authenticateClient(request, form, deps)
  return { form, caller }
}

async function findOwnToken(
  form: Form,
  caller: Client,
  deps: TokenStateDeps,
): Promise<ValidToken | undefined> {
  const token = form.get('token')
  if (token === undefined) throw oauthError(400, 'invalid_request', 'token must be set')
  const valid = await readToken(token, deps)
  return valid !== undefined && valid.client.customerId === caller.customerId ? valid : undefined
}
