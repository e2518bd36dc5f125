import { createECDH, createPrivateKey, type KeyObject } from 'node:crypto'
import type { Keyring, PurposeKey } from '@bursar/base'
import { importJWK, type JWK } from 'jose'
import { oauthLimits } from '../limits.ts'

/** An imported token-signing key. Its id is the `kid` of the tokens that it signs. */
export type SigningKey = {
  readonly id: string
  /** The first part of each token that it signs, which is the same for all of them. */
  readonly header: string
  readonly privateKey: KeyObject
  readonly publicKey: CryptoKey
  readonly publicJwk: JWK
  /** When the last token signed with this key expires. Undefined for the newest key. */
  readonly validUntil: bigint | undefined
}

export type SigningKeys = ReadonlyMap<string, SigningKey>

/** A `next` key is published but does not sign yet. Tokens of a `retiring` key may be valid. */
export type SigningKeyState = 'next' | 'signing' | 'retiring' | 'retired' | 'revoked'

const RETIRING_MICROS =
  BigInt(oauthLimits.tokenLifeSecondsMax + oauthLimits.ownSkewSeconds) * 1_000_000n

/** The keys that may still have signed a valid token, by id. Revoked keys are left out. */
export async function importSigningKeys(keyring: Keyring): Promise<SigningKeys> {
  const live = liveKeys(keyring)
  const imported = live.map(
    async (key) => [key.id, await importSigningKey(key, validUntilOf(key, live))] as const,
  )
  return new Map(await Promise.all(imported))
}

const liveKeys = (keyring: Keyring): readonly PurposeKey[] =>
  keyring.all('token-signing').filter((key) => key.revokedAt === undefined)

function validUntilOf(key: PurposeKey, live: readonly PurposeKey[]): bigint | undefined {
  const successor = live[live.indexOf(key) + 1]
  return successor && successor.activeFrom + RETIRING_MICROS
}

/** Every signing key and its state. */
export function describeSigningKeys(
  keyring: Keyring,
  now: bigint,
): readonly { readonly key: PurposeKey; readonly state: SigningKeyState }[] {
  const live = liveKeys(keyring)
  const stateOf = (key: PurposeKey): SigningKeyState => {
    if (key.revokedAt !== undefined) return 'revoked'
    if (key.id === keyring.current('token-signing').id) return 'signing'
    if (key.activeFrom > now) return 'next'
    const validUntil = validUntilOf(key, live)
    return validUntil === undefined || now < validUntil ? 'retiring' : 'retired'
  }
  return keyring.all('token-signing').map((key) => ({ key, state: stateOf(key) }))
}

/** The keys of `/.well-known/jwks.json`: those whose tokens are accepted, and the next one. */
export function publishedKeys(keys: SigningKeys, now: bigint): readonly JWK[] {
  return [...keys.values()].filter((key) => isValid(key, now)).map((key) => key.publicJwk)
}

export const isValid = (key: SigningKey, now: bigint): boolean =>
  key.validUntil === undefined || now < key.validUntil

async function importSigningKey(
  key: PurposeKey,
  validUntil: bigint | undefined,
): Promise<SigningKey> {
  // Derived, not stored: a writer of the store could otherwise replace a stored public key.
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(key.key)
  const point = curve.getPublicKey()
  const publicJwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
    kid: key.id,
    alg: 'ES256',
    use: 'sig',
  }
  const pair = { ...publicJwk, d: key.key.toString('base64url') }
  return {
    id: key.id,
    header: encodePart({ alg: 'ES256', typ: 'at+jwt', kid: key.id }),
    privateKey: createPrivateKey({ key: pair, format: 'jwk' }),
    publicKey: await asCryptoKey(publicJwk),
    publicJwk,
    validUntil,
  }
}

async function asCryptoKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, 'ES256')
  if (key instanceof Uint8Array) throw new TypeError('importJWK returned bytes for an EC key.')
  return key
}

/** The header or the claims of a token, as it contains them. */
export const encodePart = (part: object): string =>
  Buffer.from(JSON.stringify(part)).toString('base64url')
