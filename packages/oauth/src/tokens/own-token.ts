import { randomUUID, sign } from 'node:crypto'
import type { Clock, Granted } from '@bursar/base'
import type { Person } from '@bursar/contract'
import type { Client } from '@bursar/records'
import { oauthLimits } from '../limits.ts'
import { checkJwt, secondsOf, timeRefusal } from './check-jwt.ts'
import type { KnownCredentials } from './credential-cache.ts'
import { isRefusal, type Refusal } from './refusal.ts'
import { encodePart, isValid, type SigningKey } from './signing-keys.ts'

/** The checked claims of a token, before its client is looked up. */
export type TokenClaims = {
  readonly issuer: string
  readonly clientId: string
  readonly scopes: readonly string[]
  /** Whole seconds since 1970; a fraction is cut off. */
  readonly issuedAt: number
  /** Seconds since 1970. Another issuer may send a fraction (RFC 7519 section 2, NumericDate). */
  readonly expiresAt: number
  readonly tokenId: string | undefined
  /** Whether the issuer still has the key that the token was signed with. */
  readonly isKeyHeld: () => boolean
  /** Who signed in, where the token is not of a client itself. */
  readonly person?: SignedIn
}

/** A person who signed in at a trusted issuer, and what its claims grant. */
export type SignedIn = Person & Granted

export type TokenRequest = {
  readonly issuer: string
  readonly client: Client
  readonly scopes: readonly string[]
  readonly lifeSeconds: number
  readonly key: SigningKey
  readonly now: bigint
}

/**
 * Signs an access token for a client (RFC 9068 section 2, RFC 7515 section 3.1). jose signs in a
 * thread of the pool, which takes three times the processor time of a signature in place.
 */
export function issueToken(request: TokenRequest): string {
  const { issuer, client, scopes, lifeSeconds, key, now } = request
  // `notBefore` may lie up to a second ahead; a new token must not count as one of the old ones.
  const issuedAt = Math.max(secondsOf(now), secondsOf(client.notBefore))
  const claims = encodePart({
    client_id: client.id,
    scope: scopes.join(' '),
    iss: issuer,
    sub: client.id,
    aud: issuer,
    jti: randomUUID(),
    iat: issuedAt,
    exp: issuedAt + lifeSeconds,
  })
  const signed = `${key.header}.${claims}`
  // RFC 7518 section 3.4: the two numbers of the signature, without ASN.1.
  const pair = { key: key.privateKey, dsaEncoding: 'ieee-p1363' } as const
  return `${signed}.${sign('sha256', Buffer.from(signed), pair).toString('base64url')}`
}

/** The claims of a valid token of Bursar: one audience, a key id, a token id and a bounded life. */
export async function readOwnToken(
  token: string,
  kid: string,
  issuer: string,
  known: KnownCredentials,
  clock: Clock,
): Promise<TokenClaims | Refusal> {
  const now = clock()
  const key = known.signingKeys.get(kid)
  if (key === undefined || !isValid(key, now)) return 'unknown key'
  const checked = await checkJwt(token, key.publicKey, now, {
    algorithms: ['ES256'],
    typ: 'at+jwt',
    issuer,
    audience: issuer,
    requiredClaims: ['exp', 'iat', 'jti', 'sub', 'client_id', 'scope'],
  })
  if (isRefusal(checked)) return checked
  const { client_id: clientId, scope, iat = 0, exp = 0, jti, sub, aud } = checked.payload
  if (typeof clientId !== 'string' || sub !== clientId) return 'wrong claims'
  if (typeof scope !== 'string' || aud !== issuer) return 'wrong claims'
  if (typeof jti !== 'string' || jti === '') return 'wrong claims'
  if (known.deniedTokens.has(jti)) return 'revoked'
  const bounds = { now, skew: oauthLimits.ownSkewSeconds, lifeMax: oauthLimits.tokenLifeSecondsMax }
  const untimely = timeRefusal(iat, exp, bounds)
  if (untimely !== undefined) return untimely
  const scopes = scope.split(' ').filter((name) => name !== '')
  // A retired key stays: a request goes on when its token expires.
  const isKeyHeld = () => known.signingKeys.has(kid)
  const times = { issuedAt: Math.floor(iat), expiresAt: exp }
  return { issuer, clientId, scopes, ...times, tokenId: jti, isKeyHeld }
}
