import { randomUUID } from 'node:crypto'
import { type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { Clock } from '../../platform/clock.ts'
import type { Client } from '../../store/credentials.ts'
import { ownSkewSeconds, tokenLifeSecondsMax } from '../limits.ts'
import { isGood, type SigningKey } from './signing-keys.ts'
import type { States } from './states.ts'

/** A token whose signature and claims hold, before its client is looked up. Times in seconds since 1970. */
export type TokenClaims = {
  readonly issuer: string
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly issuedAt: number
  readonly expiresAt: number
  readonly tokenId: string | undefined
}

const secondsOf = (instant: bigint): number => Number(instant / 1_000_000n)

export type Issue = {
  readonly issuer: string
  readonly client: Client
  readonly scopes: readonly string[]
  readonly lifeSeconds: number
  readonly key: SigningKey
  readonly now: bigint
}

/** Signs an access token for a client as RFC 9068 section 2 lays it out. */
export function issueToken({
  issuer,
  client,
  scopes,
  lifeSeconds,
  key,
  now,
}: Issue): Promise<string> {
  // A client that has just had its older tokens refused gets one that counts as newer, by less than a second.
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

/**
 * The claims of a token of ours, or undefined where anything about it is wrong. Stricter than RFC 9068 section 4:
 * one audience, a key id and a token id are required, and the life is bounded whoever signed it.
 */
export async function readOwnToken(
  token: string,
  kid: string,
  issuer: string,
  states: States,
  clock: Clock,
): Promise<TokenClaims | undefined> {
  const now = clock()
  const key = states.signingKeys.get(kid)
  if (key === undefined || !isGood(key, now)) return undefined
  const payload = await verifiedPayload(token, key, issuer, now)
  if (payload === undefined) return undefined
  const { client_id: clientId, scope, iat, exp, jti, sub, aud } = payload
  if (typeof clientId !== 'string' || sub !== clientId || typeof scope !== 'string')
    return undefined
  if (typeof jti !== 'string' || jti === '' || aud !== issuer) return undefined
  if (!isTimely(iat, exp, { now, skew: ownSkewSeconds, lifeMax: tokenLifeSecondsMax })) {
    return undefined
  }
  if (states.deniedTokens.has(jti)) return undefined
  const scopes = scope.split(' ').filter((name) => name !== '')
  return { issuer, clientId, scopes, issuedAt: iat ?? 0, expiresAt: exp ?? 0, tokenId: jti }
}

async function verifiedPayload(
  token: string,
  key: SigningKey,
  issuer: string,
  now: bigint,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, key.publicKey, {
      algorithms: ['ES256'],
      typ: 'at+jwt',
      issuer,
      audience: issuer,
      requiredClaims: ['exp', 'iat', 'jti', 'sub', 'client_id', 'scope'],
      currentDate: new Date(Number(now / 1000n)),
    })
    return payload
  } catch {
    return undefined
  }
}

type Times = { readonly now: bigint; readonly skew: number; readonly lifeMax: number }

/**
 * Issued neither in the future nor for longer than is allowed. jose checks neither: without this a token signed once
 * by a stolen key would be good for years.
 */
export function isTimely(
  issuedAt: number | undefined,
  expiresAt: number | undefined,
  { now, skew, lifeMax }: Times,
): boolean {
  if (issuedAt === undefined || expiresAt === undefined) return false
  return issuedAt <= secondsOf(now) + skew && expiresAt - issuedAt <= lifeMax
}
