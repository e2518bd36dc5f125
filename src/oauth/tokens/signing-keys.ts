import { createECDH } from 'node:crypto'
import { importJWK, type JWK } from 'jose'
import type { Keyring, PurposeKey } from '../../vault/keyring.ts'
import { ownSkewSeconds, tokenLifeSecondsMax } from '../limits.ts'

/** A token-signing key, ready for use. Its id is the `kid` of the tokens that it signs. */
export type SigningKey = {
  readonly id: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly publicJwk: JWK
  /** When the next key has taken over and the last token of this one has expired; undefined for the newest. */
  readonly goodUntil: bigint | undefined
}

export type SigningKeys = ReadonlyMap<string, SigningKey>

/** `next` is published and about to sign; `retiring` signs no more, but its tokens may still be good. */
export type SigningKeyState = 'next' | 'signing' | 'retiring' | 'retired' | 'revoked'

const OUTLIVES_SUCCESSOR = BigInt(tokenLifeSecondsMax + ownSkewSeconds) * 1_000_000n

/** The keys of the ring that may still verify a token, by id. Revoked ones are not among them. */
export async function importSigningKeys(keyring: Keyring): Promise<SigningKeys> {
  const live = liveKeys(keyring)
  const imported = live.map(
    async (key) => [key.id, await importSigningKey(key, goodUntilOf(key, live))] as const,
  )
  return new Map(await Promise.all(imported))
}

const liveKeys = (keyring: Keyring): readonly PurposeKey[] =>
  keyring.all('token-signing').filter((key) => key.revokedAt === undefined)

function goodUntilOf(key: PurposeKey, live: readonly PurposeKey[]): bigint | undefined {
  const successor = live[live.indexOf(key) + 1]
  return successor && successor.activeFrom + OUTLIVES_SUCCESSOR
}

/** Every signing key, revoked and retired ones too, with where it stands now. */
export function describeSigningKeys(
  keyring: Keyring,
  now: bigint,
): readonly { readonly key: PurposeKey; readonly state: SigningKeyState }[] {
  const live = liveKeys(keyring)
  const stateOf = (key: PurposeKey): SigningKeyState => {
    if (key.revokedAt !== undefined) return 'revoked'
    if (key.id === keyring.current('token-signing').id) return 'signing'
    if (key.activeFrom > now) return 'next'
    const goodUntil = goodUntilOf(key, live)
    return goodUntil === undefined || now < goodUntil ? 'retiring' : 'retired'
  }
  return keyring.all('token-signing').map((key) => ({ key, state: stateOf(key) }))
}

/** What `/.well-known/jwks.json` shows: the keys whose tokens are accepted now, and one that is about to sign. */
export function publishedKeys(keys: SigningKeys, now: bigint): readonly JWK[] {
  return [...keys.values()].filter((key) => isGood(key, now)).map((key) => key.publicJwk)
}

export const isGood = (key: SigningKey, now: bigint): boolean =>
  key.goodUntil === undefined || now < key.goodUntil

async function importSigningKey(
  key: PurposeKey,
  goodUntil: bigint | undefined,
): Promise<SigningKey> {
  // The public half is worked out from the sealed private one, never read from the store, where someone who can
  // write but not unwrap could have put a key of their own.
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
  const { use: _use, ...pair } = { ...publicJwk, d: key.key.toString('base64url') }
  const [privateKey, publicKey] = await Promise.all([asCryptoKey(pair), asCryptoKey(publicJwk)])
  return { id: key.id, privateKey, publicKey, publicJwk, goodUntil }
}

async function asCryptoKey(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, 'ES256')
  if (key instanceof Uint8Array) throw new TypeError('An EC key came back as bytes.')
  return key
}
