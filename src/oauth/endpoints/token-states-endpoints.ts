import { type Answer, jsonAnswer, type Request } from '../../contract/request.ts'
import type { Client } from '../../store/credentials.ts'
import { type AuthenticationSources, authenticateClient } from '../clients/authenticate-client.ts'
import { type GoodToken, readToken, type TokenSources } from '../tokens/read-token.ts'
import { notStored, oauthError } from './oauth-error.ts'
import { type Form, readForm } from './read-form.ts'

export type TokenStateSources = AuthenticationSources & TokenSources

/**
 * `POST /oauth2/introspect` (RFC 7662): whether a token of the asking client's own customer is good now, and what it
 * says. Of any other token, also another customer's good one, the answer is the same: not active.
 */
export async function answerIntrospection(
  request: Request,
  sources: TokenStateSources,
): Promise<Answer> {
  const { asking, form } = await readRequest(request, sources)
  const good = await findOwnToken(form, asking, sources)
  if (good === undefined) return jsonAnswer({ active: false }, notStored)
  const { claims, client, scopes } = good
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
      ...(claims.issuer === sources.issuer() && { aud: claims.issuer }),
      ...(claims.tokenId !== undefined && { jti: claims.tokenId }),
    },
    notStored,
  )
}

/**
 * `POST /oauth2/revoke` (RFC 7009): refuses one token of the asking client's own customer, at once here and from the
 * next poll on everywhere else. Any other token is left as it is, under the same answer.
 */
export async function answerRevocation(
  request: Request,
  sources: TokenStateSources,
): Promise<Answer> {
  const { asking, form } = await readRequest(request, sources)
  const good = await findOwnToken(form, asking, sources)
  const tokenId = good?.claims.tokenId
  // Only our own: another issuer's ids are not ours to keep, and its clients have no credentials here to ask with.
  if (good !== undefined && tokenId !== undefined && good.claims.issuer === sources.issuer()) {
    const { store, states, clock, log } = sources
    await store.denyToken(tokenId, BigInt(Math.ceil(good.claims.expiresAt)) * 1_000_000n, clock())
    await states.refresh()
    log.info({ client: good.client.id, by: asking.id, outcome: 'revoked' }, 'access token')
  }
  return { status: 200, headers: notStored, body: '' }
}

async function readRequest(request: Request, sources: TokenStateSources) {
  sources.states.requireFresh()
  const form = await readForm(request)
  const asking = await authenticateClient(request, form, sources)
  return { form, asking }
}

async function findOwnToken(
  form: Form,
  asking: Client,
  sources: TokenStateSources,
): Promise<GoodToken | undefined> {
  const token = form.get('token')
  if (token === undefined) throw oauthError(400, 'invalid_request', 'token must be set')
  const good = await readToken(token, sources)
  return good !== undefined && good.client.customerId === asking.customerId ? good : undefined
}
