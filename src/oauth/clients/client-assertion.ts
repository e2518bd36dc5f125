import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import type { Clock } from '../../platform/clock.ts'
import type { Secret } from '../../platform/secret.ts'
import type { Client, CredentialStore } from '../../store/credentials.ts'
import { assertionIdLengthMax, assertionLifeSecondsMax, ownSkewSeconds } from '../limits.ts'
import { assertionAlgorithms } from './clients.ts'

export type AssertionSources = {
  readonly store: CredentialStore
  readonly issuer: () => string
  readonly clock: Clock
}

/**
 * Whether a private_key_jwt assertion (RFC 7523 section 3) is this client's, for us, short-lived, and presented for
 * the first time. The audience is our issuer as a single text, as FAPI 2.0 has it: an assertion made for
 * another server must be of no use here.
 */
export async function isGoodAssertion(
  client: Client,
  assertion: Secret,
  { store, issuer, clock }: AssertionSources,
): Promise<boolean> {
  if (client.method.kind !== 'keys') return false
  const now = clock()
  const claims = await verifyAssertion(client, client.method.jwks, assertion, issuer(), now)
  if (claims === undefined) return false
  const seconds = Number(now / 1_000_000n)
  const { aud, exp, iat, jti } = claims
  if (aud !== issuer() || typeof exp !== 'number') return false
  if (exp > seconds + assertionLifeSecondsMax + ownSkewSeconds) return false
  if (iat !== undefined && iat > seconds + ownSkewSeconds) return false
  if (typeof jti !== 'string' || jti === '' || jti.length > assertionIdLengthMax) return false
  // Kept past the expiry by the tolerance under which it would still be accepted.
  const forgetAt = BigInt(Math.ceil(exp) + ownSkewSeconds) * 1_000_000n
  return store.useAssertion(client.id, jti, forgetAt, now)
}

async function verifyAssertion(
  client: Client,
  jwks: string,
  assertion: Secret,
  issuer: string,
  now: bigint,
) {
  const keys: JSONWebKeySet = JSON.parse(jwks)
  try {
    const { payload } = await jwtVerify(assertion.reveal(), createLocalJWKSet(keys), {
      algorithms: [...assertionAlgorithms],
      issuer: client.id,
      subject: client.id,
      audience: issuer,
      requiredClaims: ['exp', 'jti'],
      clockTolerance: ownSkewSeconds,
      currentDate: new Date(Number(now / 1000n)),
    })
    return payload
  } catch {
    return undefined
  }
}
