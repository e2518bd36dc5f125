import type { Clock } from '@bursar/base'
import { contractLimits } from '@bursar/contract'
import type { Client } from '@bursar/records'
import { readUncheckedJwt } from './check-jwt.ts'
import { type CredentialCache, externalKey, type KnownCredentials } from './credential-cache.ts'
import type { TrustedIssuers } from './external-token.ts'
import { readOwnToken, type SignedIn, type TokenClaims } from './own-token.ts'
import { isRefusal, type Refusal } from './refusal.ts'

/** A valid token and the client that it authenticates, or the person who signed in. */
export type ValidToken = ClientToken | { readonly claims: TokenClaims; readonly person: SignedIn }

export type ClientToken = {
  readonly claims: TokenClaims
  readonly client: Client
  /** The scopes of the token that the client still has. */
  readonly scopes: readonly string[]
}

export type TokenDeps = {
  readonly cache: CredentialCache
  readonly issuers: TrustedIssuers
  /** Bursar's public URL. A function, because the port may be known only after listening. */
  readonly issuer: () => string
  readonly clock: Clock
}

/** Checks a token in full. Throws a Problem 503 if the keys to check it with are unavailable. */
export async function readToken(token: string, deps: TokenDeps): Promise<ValidToken | Refusal> {
  const claims = await readClaims(token, deps)
  if (isRefusal(claims)) return claims
  // What a person may do is in the token alone, so there is nothing to look up.
  if (claims.person !== undefined) return { claims, person: claims.person }
  const client = await findClient(claims, deps)
  if (client === undefined) return 'unknown client'
  if (client.disabledAt !== undefined) return 'disabled client'
  if (isIssuedBefore(claims.issuedAt, client)) return 'revoked'
  const scopes = claims.scopes.filter((scope) => client.scopes.includes(scope))
  return { claims, client, scopes }
}

/** Whether a token is from before its client's tokens were revoked. */
export const isIssuedBefore = (issuedAt: number, { notBefore }: Client): boolean =>
  BigInt(issuedAt) * 1_000_000n < notBefore

async function readClaims(token: string, deps: TokenDeps): Promise<TokenClaims | Refusal> {
  const { cache, issuers, clock } = deps
  const { kid, iss } = readUncheckedJwt(token, contractLimits.tokenLengthMax) ?? {}
  if (typeof kid !== 'string' || typeof iss !== 'string') return 'malformed'
  const issuer = deps.issuer()
  if (iss !== issuer) return issuers.read(token, iss)
  // Another process may have just rotated the keys.
  if (!cache.current().signingKeys.has(kid)) await cache.refreshForUnknownKey()
  return readOwnToken(token, kid, issuer, cache.current(), clock)
}

async function findClient(
  claims: TokenClaims,
  { cache, issuer }: TokenDeps,
): Promise<Client | undefined> {
  const isOwn = claims.issuer === issuer()
  const find = ({ clients, clientsByExternalId }: KnownCredentials) =>
    isOwn
      ? clients.get(claims.clientId)
      : clientsByExternalId.get(externalKey(claims.issuer, claims.clientId))
  const known = find(cache.current())
  if (known !== undefined) return known
  // The signature is valid, so the client may have been created since the last poll.
  await cache.refresh()
  return find(cache.current())
}
