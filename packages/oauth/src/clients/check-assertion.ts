import { type Clock, limitsOf, type Secret } from '@bursar/base'
import type { Client, CredentialStore } from '@bursar/records'
import { createLocalJWKSet, type JSONWebKeySet } from 'jose'
import { oauthLimits } from '../limits.ts'
import { checkJwt, secondsOf } from '../tokens/check-jwt.ts'
import { isRefusal } from '../tokens/refusal.ts'
import { assertionAlgorithms } from './clients.ts'

const limits = limitsOf({
  /** A `private_key_jwt` assertion is made for one request, so it must be short-lived. */
  assertionLifeSecondsMax: 300,
  assertionIdLengthMax: 256,
})

export type AssertionDeps = {
  readonly store: CredentialStore
  readonly issuer: () => string
  readonly clock: Clock
}

/**
 * Checks a `private_key_jwt` assertion (RFC 7523 section 3) and marks its id as used. Returns why
 * it is refused, or undefined for a valid one.
 */
export async function assertionFault(
  client: Client,
  assertion: Secret,
  { store, issuer, clock }: AssertionDeps,
): Promise<string | undefined> {
  if (client.method.kind !== 'keys') return 'the client has no keys'
  const now = clock()
  const { ownSkewSeconds } = oauthLimits
  const { assertionLifeSecondsMax, assertionIdLengthMax } = limits
  const keys: JSONWebKeySet = JSON.parse(client.method.jwks)
  const checked = await checkJwt(assertion.reveal(), createLocalJWKSet(keys), now, {
    algorithms: [...assertionAlgorithms],
    issuer: client.id,
    subject: client.id,
    audience: issuer(),
    requiredClaims: ['exp', 'jti'],
    clockTolerance: ownSkewSeconds,
  })
  // FAPI 2.0: the assertion is made for this issuer alone. Many libraries name the token endpoint.
  const wrongAudience = `aud must be ${issuer()} as a string, and not the URL of an endpoint`
  if (checked === 'wrong audience') return wrongAudience
  if (isRefusal(checked)) return checked
  if (!isAssertionType(checked.typ)) return 'wrong type'
  const { aud, exp, iat, jti } = checked.payload
  const seconds = secondsOf(now)
  if (aud !== issuer()) return wrongAudience
  if (typeof exp !== 'number') return 'wrong claims'
  if (exp > seconds + assertionLifeSecondsMax + ownSkewSeconds) return 'lives too long'
  if (iat !== undefined && iat > seconds + ownSkewSeconds) return 'not yet valid'
  if (typeof jti !== 'string' || jti === '' || jti.length > assertionIdLengthMax) {
    return 'wrong claims'
  }
  // The id is kept for the clock tolerance past the expiry: until then it could be replayed.
  const keptUntil = BigInt(Math.ceil(exp) + ownSkewSeconds) * 1_000_000n
  const isNew = await store.useAssertion(client.id, jti, keptUntil, now)
  return isNew ? undefined : 'used before'
}

/**
 * Explicit typing (RFC 8725 section 3.11). Clients that follow RFC 7523 send `JWT` or no type. A
 * token of another kind, such as an access token, names its own type and is refused.
 */
const isAssertionType = (typ: string | undefined): boolean =>
  typ === undefined || /^(application\/)?(jwt|client-authentication\+jwt)$/i.test(typ)
