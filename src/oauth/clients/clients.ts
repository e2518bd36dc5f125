import { createPublicKey } from 'node:crypto'
import { importJWK, type JWK } from 'jose'
import { readScopes, scopesOf } from '../../contract/scopes.ts'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import { parseJson } from '../../platform/parse-json.ts'
import { Secret } from '../../platform/secret.ts'
import { commandHint } from '../../platform/version.ts'
import type { Client, ClientMethod, CredentialStore } from '../../store/credentials.ts'
import { printable } from '../../values/printable.ts'
import type { Keyring } from '../../vault/keyring.ts'
import type { Random } from '../../vault/random.ts'
import { hashSecret, makeSecret, randomText } from './client-secrets.ts'
import { publishedPrefix } from './published-secrets.ts'

export type ClientDeps = {
  readonly store: CredentialStore
  readonly keyring: Keyring
  readonly clock: Clock
  readonly random: Random
}

export type NewClient = {
  /** Null for a client of the operator, which cannot read customers' records. */
  readonly customerId: string | null
  /** The one customer that a client of the operator is bound to. */
  readonly boundTo?: string | null
  readonly name: string
  /** By default a customer's client gets the read scopes. */
  readonly scopes: readonly string[] | undefined
  readonly method: ClientMethod
}

/** A refusal. The sentence says what to change. */
export type Refused = { readonly refused: string }

type NewClientSecret = { readonly client: Client; readonly secret: Secret }

/**
 * Shows a new secret to its only reader. It is stored after this has resolved: no client has a
 * secret that nobody has seen, and a rotation that fails here leaves the old secret in force.
 */
export type Reveal<T> = (made: T) => Promise<void>

/** Registers a client. A client of method `secret` gets a secret, which is returned only here. */
export async function createClient(
  deps: ClientDeps,
  wanted: NewClient,
  reveal: Reveal<NewClientSecret> = async () => {},
): Promise<{ client: Client; secret: Secret | undefined } | Refused> {
  const { store, keyring, clock, random } = deps
  const available = scopesOf(wanted.customerId)
  const scopes = [...new Set(wanted.scopes ?? (wanted.customerId === null ? [] : readScopes))]
  const unknown = scopes.filter((scope) => !available.some((known) => known === scope))
  if (unknown.length > 0) {
    const names = unknown.join(', ')
    return { refused: `${names}: unknown scope. The scopes are ${available.join(', ')}.` }
  }
  if (scopes.length === 0) return { refused: 'A client needs at least one scope.' }
  const client = newClient(`client_${randomText(16, random)}`, { ...wanted, scopes }, clock())
  const secret = wanted.method.kind === 'secret' ? makeSecret(random) : undefined
  if (secret !== undefined) await reveal({ client, secret })
  const added = await store.addClient(client, secret && newSecret(secret, keyring, clock, random))
  if (added === 'taken') return { refused: 'Another client has this issuer and external id.' }
  return { client, secret }
}

/**
 * Gives a client a new secret. The previous one stays valid for `previousDays`; 0 ends it at once,
 * with every token issued so far.
 */
export async function rotateClient(
  { store, keyring, clock, random }: ClientDeps,
  clientId: string,
  { previousDays }: { readonly previousDays: number },
  reveal: Reveal<Rotated> = async () => {},
): Promise<Rotated | Refused> {
  const client = await store.findClient(clientId)
  if (client === undefined) return { refused: noSuchClient(clientId) }
  if (client.disabledAt !== undefined) return { refused: `Client ${clientId} is disabled.` }
  if (client.method.kind !== 'secret')
    return { refused: `Client ${clientId} does not use a secret.` }
  const secret = makeSecret(random)
  const now = clock()
  const isAtOnce = previousDays === 0
  const previousUntil = isAtOnce ? undefined : now + BigInt(previousDays) * microsPerDay
  const rotated = { client, secret, previousUntil }
  await reveal(rotated)
  await store.rotateSecret(clientId, {
    secret: newSecret(secret, keyring, clock, random),
    previousUntil,
    notBefore: isAtOnce ? nextSecond(now) : undefined,
  })
  return rotated
}

type Rotated = NewClientSecret & { readonly previousUntil: bigint | undefined }

/** Disables a client and all its tokens permanently. Idempotent. */
export async function disableClient(
  { store, clock }: ClientDeps,
  clientId: string,
): Promise<Client | Refused> {
  const now = clock()
  const found = await store.disableClient(clientId, now, nextSecond(now))
  const client = found ? await store.findClient(clientId) : undefined
  return client ?? { refused: noSuchClient(clientId) }
}

const microsPerDay = 86_400_000_000n

const noSuchClient = (id: string) =>
  `There is no client ${printable(id)}. ${commandHint('client list')} shows them all.`

/** Registers or restores a client with a known secret, at every start and reset of the sandbox. */
export async function createSampleClient(
  { store, keyring, clock, random }: ClientDeps,
  sample: Omit<Described, 'method'> & {
    readonly id: string
    readonly secret: string
    /** No server but a sandbox accepts it. */
    readonly isPublished?: true
  },
): Promise<void> {
  const client = newClient(sample.id, { ...sample, method: { kind: 'secret' } }, clock())
  const secret = newSecret(new Secret(sample.secret), keyring, clock, random)
  const id = sample.isPublished ? `${publishedPrefix}${randomText(10, random)}` : secret.id
  await store.restoreClient(client, { ...secret, id })
}

type Described = Pick<Client, 'customerId' | 'name' | 'scopes' | 'method'> &
  Partial<Pick<Client, 'boundTo'>>

function newClient(id: string, wanted: Described, now: bigint): Client {
  const { customerId, boundTo = null, name, scopes, method } = wanted
  const untouched = { notBefore: 0n, disabledAt: undefined, lastUsedAt: undefined }
  return { id, customerId, boundTo, name, scopes, method, createdAt: now, ...untouched }
}

function newSecret(secret: Secret, keyring: Keyring, clock: Clock, random: Random) {
  const id = `secret_${randomText(10, random)}`
  return { id, hash: hashSecret(secret, keyring), createdAt: clock() }
}

/** `iat` has whole seconds, so this also refuses tokens issued in the current second. */
export const nextSecond = (now: bigint): bigint => (now / 1_000_000n + 1n) * 1_000_000n

/** The signature algorithms of client assertions, as FAPI 2.0 allows them. */
export const assertionAlgorithms = ['ES256', 'PS256', 'EdDSA', 'Ed25519'] as const

/** Reads a client's public keys from a JSON Web Key Set or a single key. Refuses private keys. */
export async function readClientKeys(text: string): Promise<{ jwks: string } | Refused> {
  const document = parseJson(text)
  if (typeof document !== 'object' || document === null)
    return { refused: 'The file is not a JSON object.' }
  const keys: unknown = 'keys' in document ? document.keys : [document]
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > limits.clientKeysMax) {
    return { refused: `The file must hold 1 to ${limits.clientKeysMax} keys.` }
  }
  for (const [index, key] of keys.entries()) {
    const fault = await faultOfKey(key)
    if (fault !== undefined) return { refused: `Key ${index + 1} ${fault}` }
  }
  const ids = keys.map(({ kid }: JWK) => kid)
  if (new Set(ids).size !== ids.length)
    return { refused: 'Two keys have the same kid, or both have none.' }
  return { jwks: JSON.stringify({ keys }) }
}

async function faultOfKey(key: JWK): Promise<string | undefined> {
  if (typeof key !== 'object' || key === null) return 'is not a JSON Web Key.'
  if (key.d !== undefined || key.k !== undefined) {
    return 'is private. Make a new key pair and register the public key only.'
  }
  const algorithm = { EC: 'ES256', RSA: 'PS256', OKP: 'EdDSA' }[String(key.kty)]
  try {
    await importJWK({ ...key }, algorithm ?? 'none')
    if (key.kty === 'EC' && key.crv !== 'P-256') return 'must use the curve P-256.'
    return key.kty === 'RSA' ? faultOfRsaKey(key) : undefined
  } catch {
    return 'is not an EC (P-256), RSA or Ed25519 public key.'
  }
}

/** NIST SP 800-131A requires 2,048 bits. A long key or exponent makes each check expensive. */
function faultOfRsaKey(key: JWK): string | undefined {
  const { modulusLength: bits = 0, publicExponent = 0n } =
    createPublicKey({ key: { ...key }, format: 'jwk' }).asymmetricKeyDetails ?? {}
  const { rsaBitsMin, rsaBitsMax } = limits
  if (bits < rsaBitsMin || bits > rsaBitsMax) {
    return `has ${bits} bits; an RSA key must have ${rsaBitsMin} to ${rsaBitsMax}.`
  }
  return publicExponent === 65_537n ? undefined : 'must have the public exponent 65537.'
}
