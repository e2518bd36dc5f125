import { createLocalJWKSet, type JSONWebKeySet } from 'jose'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import type { Secret } from '../../platform/secret.ts'
import type { Client, CredentialStore } from '../../store/credentials.ts'
import { checkJwt, secondsOf } from '../tokens/check-jwt.ts'
import { isRefusal } from '../tokens/refusal.ts'
import { assertionAlgorithms } from './clients.ts'

export type AssertionDeps = {
  readonly store: CredentialStore
  readonly issuer: () => string
  readonly clock: Clock
}

/** Checks a `private_key_jwt` assertion (RFC 7523 section 3) and marks its id as used. */
export async function isValidAssertion(
  client: Client,
  assertion: Secret,
  { store, issuer, clock }: AssertionDeps,
): Promise<boolean> {
  if (client.method.kind !== 'keys') return false
  const now = clock()
  const { ownSkewSeconds, assertionLifeSecondsMax, assertionIdLengthMax } = limits
  const keys: JSONWebKeySet = JSON.parse(client.method.jwks)
  const checked = await checkJwt(assertion.reveal(), createLocalJWKSet(keys), now, {
    algorithms: [...assertionAlgorithms],
    issuer: client.id,
    subject: client.id,
    audience: issuer(),
    requiredClaims: ['exp', 'jti'],
    clockTolerance: ownSkewSeconds,
  })
  if (isRefusal(checked) || !isAssertionType(checked.typ)) return false
  const { aud, exp, iat, jti } = checked.payload
  const seconds = secondsOf(now)
  // FAPI 2.0: the assertion is made for this issuer alone.
  if (aud !== issuer() || typeof exp !== 'number') return false
  if (exp > seconds + assertionLifeSecondsMax + ownSkewSeconds) return false
  if (iat !== undefined && iat > seconds + ownSkewSeconds) return false
  if (typeof jti !== 'string' || jti === '' || jti.length > assertionIdLengthMax) return false
  // The id is kept for the clock tolerance past the expiry: until then it could be replayed.
  const keptUntil = BigInt(Math.ceil(exp) + ownSkewSeconds) * 1_000_000n
  return store.useAssertion(client.id, jti, keptUntil, now)
}

/**
 * Explicit typing (RFC 8725 section 3.11). Clients that follow RFC 7523 send `JWT` or no type. A
 * token of another kind, such as an access token, names its own type and is refused.
 */
const isAssertionType = (typ: string | undefined): boolean =>
  typ === undefined || /^(application\/)?(jwt|client-authentication\+jwt)$/i.test(typ)
