import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import type { Client } from '../../store/credentials.ts'
import type { CredentialSnapshot } from './credential-cache.ts'
import { isValid, type SigningKey } from './signing-keys.ts'
import { isTimely, secondsOf, verifyJwt } from './verify-jwt.ts'

/** The verified claims of a token, before its client is looked up. Times are seconds since 1970. */
export type TokenClaims = {
  readonly issuer: string
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly issuedAt: number
  readonly expiresAt: number
  readonly tokenId: string | undefined
}

export type TokenRequest = {
  readonly issuer: string
  readonly client: Client
  readonly scopes: readonly string[]
  readonly lifeSeconds: number
  readonly key: SigningKey
  readonly now: bigint
}

/** Signs an access token for a client (RFC 9068 section 2). */
export function issueToken(request: TokenRequest): Promise<string> {
  const { issuer, client, scopes, lifeSeconds, key, now } = request
  // `notBefore` may lie up to a second ahead; a new token must not count as one of the old ones.
  const issuedAt = Math.max(secondsOf(now), secondsOf(client.notBefore))
  return new SignJWT({ client_id: client.id, scope: scopes.join(' ') })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.id })
    .setIssuer(issuer)
    .setSubject(client.id)
    .setAudience(issuer)
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifeSeconds)
    .sign(key.privateKey)
}

/** The claims of a valid token of Bursar: one audience, a key id, a token id and a bounded life. */
export async function readOwnToken(
  token: string,
  kid: string,
  issuer: string,
  snapshot: CredentialSnapshot,
  clock: Clock,
): Promise<TokenClaims | undefined> {
  const now = clock()
  const key = snapshot.signingKeys.get(kid)
  if (key === undefined || !isValid(key, now)) return undefined
  const payload = await verifyJwt(token, key.publicKey, now, {
    algorithms: ['ES256'],
    typ: 'at+jwt',
    issuer,
    audience: issuer,
    requiredClaims: ['exp', 'iat', 'jti', 'sub', 'client_id', 'scope'],
  })
  if (payload === undefined) return undefined
  const { client_id: clientId, scope, iat = 0, exp = 0, jti, sub, aud } = payload
  if (typeof clientId !== 'string' || sub !== clientId) return undefined
  if (typeof scope !== 'string' || aud !== issuer) return undefined
  if (typeof jti !== 'string' || jti === '' || snapshot.deniedTokens.has(jti)) return undefined
  const bounds = { now, skew: limits.ownSkewSeconds, lifeMax: limits.tokenLifeSecondsMax }
  if (!isTimely(iat, exp, bounds)) return undefined
  const scopes = scope.split(' ').filter((name) => name !== '')
  return { issuer, clientId, scopes, issuedAt: iat, expiresAt: exp, tokenId: jti }
}
