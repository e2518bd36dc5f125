import { createPublicKey } from 'node:crypto'
import {
  type Clock,
  closest,
  commandHint,
  DAY_MICROS,
  type Keyring,
  limitsOf,
  parseJson,
  printable,
  type Random,
  Secret,
} from '@bursar/base'
import { readScopes, scopesOf } from '@bursar/contract'
import type { Client, ClientMethod, CredentialStore } from '@bursar/records'
import { importJWK, type JWK } from 'jose'
import { oauthLimits } from '../limits.ts'
import { isSealed, markSealer, sealed, type UnsealedClient } from './client-seal.ts'
import { hashSecret, makeSecret, randomText } from './client-secrets.ts'
import { publishedPrefix } from './published-secrets.ts'

const limits = limitsOf({
  /** A client needs two keys during a rotation. More keys only slow down the search. */
  clientKeysMax: 10,
  /** The largest RSA key of a client. Checking a signature of 4,096 bits takes 0.1 ms. */
  rsaBitsMax: 4096,
})

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
  const scopes = [...new Set(wanted.scopes ?? (wanted.customerId === null ? [] : readScopes))]
  const refused = refusalOfScopes(scopes, wanted.customerId)
  if (refused !== undefined) return { refused }
  const id = `client_${randomText(16, random)}`
  const client = sealed(newClient(id, { ...wanted, scopes }, clock()), keyring)
  const secret = wanted.method.kind === 'secret' ? makeSecret(random) : undefined
  if (secret !== undefined) await reveal({ client, secret })
  const stored = secret && newSecret(client.id, secret, deps)
  const added = await store.addClient(client, stored, markSealer(keyring))
  if (added === 'taken') return { refused: 'Another client has this issuer and external id.' }
  return { client, secret }
}

/**
 * Gives a client a new secret. The previous one stays valid for `previousDays`; 0 ends it at once,
 * with every token issued so far.
 */
export async function rotateClient(
  deps: ClientDeps,
  clientId: string,
  { previousDays }: { readonly previousDays: number },
  reveal: Reveal<Rotated> = async () => {},
): Promise<Rotated | Refused> {
  const { store, keyring, clock, random } = deps
  const client = await store.findClient(clientId)
  if (client === undefined) return { refused: noSuchClient(clientId) }
  const refused = refusalOfChange(client, keyring)
  if (refused !== undefined) return { refused }
  if (client.method.kind !== 'secret')
    return { refused: `Client ${clientId} does not use a secret.` }
  const secret = makeSecret(random)
  const now = clock()
  const isAtOnce = previousDays === 0
  const previousUntil = isAtOnce ? undefined : now + BigInt(previousDays) * DAY_MICROS
  const rotated = { client, secret, previousUntil }
  await reveal(rotated)
  const rotation = {
    secret: newSecret(clientId, secret, deps),
    previousUntil,
    notBefore: isAtOnce ? nextSecond(now) : undefined,
  }
  await store.rotateSecret(clientId, rotation, markSealer(keyring))
  return rotated
}

type Rotated = NewClientSecret & { readonly previousUntil: bigint | undefined }

/** Disables a client and all its tokens permanently. A second call keeps the first time. */
export async function disableClient(
  { store, clock, keyring }: Pick<ClientDeps, 'store' | 'clock' | 'keyring'>,
  clientId: string,
): Promise<Client | Refused> {
  const now = clock()
  const notBefore = nextSecond(now)
  const disabled = await store.changeClient(
    clientId,
    (client) =>
      sealed(
        {
          ...client,
          disabledAt: client.disabledAt ?? now,
          // biome-ignore lint/complexity/useMathMinMax: Math.max takes no bigint
          notBefore: client.notBefore > notBefore ? client.notBefore : notBefore,
        },
        keyring,
      ),
    markSealer(keyring),
  )
  return disabled ?? { refused: noSuchClient(clientId) }
}

/** What `client update` changes. A member that is left out stays as it is. */
export type ClientUpdate = { readonly name?: string; readonly scopes?: readonly string[] }

/**
 * Changes the name or the scopes of a client. Its secret or keys stay in force. Running servers
 * refuse calls outside the new scopes within 10 s, also with tokens from before.
 */
export async function updateClient(
  { store, keyring }: Pick<ClientDeps, 'store' | 'keyring'>,
  clientId: string,
  { name, scopes }: ClientUpdate,
): Promise<Client | Refused> {
  let refused: string | undefined
  const change = (client: Client) => {
    refused =
      refusalOfChange(client, keyring) ?? (scopes && refusalOfScopes(scopes, client.customerId))
    if (refused !== undefined) return undefined
    const wanted = { name: name ?? client.name, scopes: [...new Set(scopes ?? client.scopes)] }
    return sealed({ ...client, ...wanted }, keyring)
  }
  const updated = await store.changeClient(clientId, change, markSealer(keyring))
  return updated ?? { refused: refused ?? noSuchClient(clientId) }
}

function refusalOfChange(client: Client, keyring: Keyring): string | undefined {
  const { id, disabledAt } = client
  if (disabledAt !== undefined) return `Client ${id} is disabled.`
  if (isSealed(client, keyring)) return undefined
  return `Client ${id} is not as this program has stored it last. Disable it with ${commandHint(`client disable ${id}`)}.`
}

function refusalOfScopes(scopes: readonly string[], customerId: string | null): string | undefined {
  const available = scopesOf(customerId)
  const unknown = scopes.filter((scope) => !available.some((known) => known === scope))
  if (unknown.length > 0) {
    const meant = unknown.flatMap((scope) => closest(scope, available) ?? [])
    const hint = meant.length === 0 ? '' : ` Did you mean ${meant.join(', ')}?`
    return `${unknown.map((scope) => printable(scope)).join(', ')}: unknown scope.${hint} The scopes are ${available.join(', ')}.`
  }
  return scopes.length === 0 ? 'A client needs at least one scope.' : undefined
}

const noSuchClient = (id: string) =>
  `There is no client ${printable(id)}. ${commandHint('client list')} shows them all.`

/** Registers or restores a client with a known secret, at every start and reset of the sandbox. */
export async function createSampleClient(
  deps: ClientDeps,
  sample: Omit<Described, 'method'> & {
    readonly id: string
    readonly secret: string
    /** No server but a sandbox accepts it. */
    readonly isPublished?: true
  },
): Promise<void> {
  const { store, keyring, clock, random } = deps
  const made = newClient(sample.id, { ...sample, method: { kind: 'secret' } }, clock())
  const client = sealed(made, keyring)
  const secret = newSecret(client.id, new Secret(sample.secret), deps)
  const id = sample.isPublished ? `${publishedPrefix}${randomText(10, random)}` : secret.id
  await store.restoreClient(client, { ...secret, id }, markSealer(keyring))
}

type Described = Pick<Client, 'customerId' | 'name' | 'scopes' | 'method'> &
  Partial<Pick<Client, 'boundTo'>>

function newClient(id: string, wanted: Described, now: bigint): UnsealedClient {
  const { customerId, boundTo = null, name, scopes, method } = wanted
  const untouched = { notBefore: 0n, disabledAt: undefined, lastUsedAt: undefined }
  return { id, customerId, boundTo, name, scopes, method, createdAt: now, ...untouched }
}

function newSecret(
  clientId: string,
  secret: Secret,
  { keyring, clock, random }: Pick<ClientDeps, 'keyring' | 'clock' | 'random'>,
) {
  const id = `secret_${randomText(10, random)}`
  return { id, hash: hashSecret(clientId, secret, keyring), createdAt: clock() }
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
  const { rsaBitsMin } = oauthLimits
  const { rsaBitsMax } = limits
  if (bits < rsaBitsMin || bits > rsaBitsMax) {
    return `has ${bits} bits; an RSA key must have ${rsaBitsMin} to ${rsaBitsMax}.`
  }
  return publicExponent === 65_537n ? undefined : 'must have the public exponent 65537.'
}
