import { importJWK, type JWK } from 'jose'
import { readScopes, scopesOf } from '../../contract/scopes.ts'
import type { Clock } from '../../platform/clock.ts'
import { Secret } from '../../platform/secret.ts'
import type { Client, ClientMethod, CredentialStore } from '../../store/credentials.ts'
import type { Keyring } from '../../vault/keyring.ts'
import type { Random } from '../../vault/random.ts'
import { clientKeysMax } from '../limits.ts'
import { hashSecret, makeSecret, randomText } from './client-secrets.ts'

export type ClientSources = {
  readonly store: CredentialStore
  readonly keyring: Keyring
  readonly clock: Clock
  readonly random: Random
}

export type NewClient = {
  /** Null makes a client of the operator's own, which reads no customer's records. */
  readonly customerId: string | null
  readonly name: string
  /** Without scopes a customer's client may read and nothing else. */
  readonly scopes: readonly string[] | undefined
  readonly method: ClientMethod
}

/** What a command may be told no for; the sentence says what to change. */
export type Refused = { readonly refused: string }

/** Registers a client. Only a client of method `secret` is given one, shown here and never again. */
export async function createClient(
  sources: ClientSources,
  wanted: NewClient,
): Promise<{ client: Client; secret: Secret | undefined } | Refused> {
  const { store, keyring, clock, random } = sources
  const possible = scopesOf(wanted.customerId)
  const scopes = [...new Set(wanted.scopes ?? (wanted.customerId === null ? [] : readScopes))]
  const unknown = scopes.filter((scope) => !possible.some((known) => known === scope))
  if (unknown.length > 0) {
    return {
      refused: `${unknown.join(', ')}: no such scope. There are ${possible.join(', ')}.`,
    }
  }
  if (scopes.length === 0) return { refused: 'A client needs at least one scope.' }
  const client = newClient(`client_${randomText(16, random)}`, { ...wanted, scopes }, clock())
  const secret = wanted.method.kind === 'secret' ? makeSecret(random) : undefined
  const added = await store.addClient(client, secret && newSecret(secret, keyring, clock, random))
  if (added === 'taken') return { refused: 'A client of that issuer has this external id already.' }
  return { client, secret }
}

export type Rotated = { readonly client: Client; readonly secret: Secret }

/**
 * Gives a client a new secret. The newest of the old ones stays live until the next rotation, so that the client can
 * change over without a gap; `expireOld` ends it now, together with the tokens it was issued.
 */
export async function rotateClient(
  { store, keyring, clock, random }: ClientSources,
  clientId: string,
  { expireOld }: { readonly expireOld: boolean },
): Promise<Rotated | Refused> {
  const client = await store.findClient(clientId)
  if (client === undefined) return { refused: noSuchClient(clientId) }
  if (client.disabledAt !== undefined) return { refused: `Client ${clientId} is disabled.` }
  if (client.method.kind !== 'secret')
    return { refused: `Client ${clientId} has no secret of ours.` }
  const secret = makeSecret(random)
  await store.rotateSecret(clientId, {
    secret: newSecret(secret, keyring, clock, random),
    kept: expireOld ? 0 : 1,
    notBefore: expireOld ? nextSecond(clock()) : undefined,
  })
  return { client, secret }
}

/** Refuses a client and all its tokens for good. Doing so twice is harmless. */
export async function disableClient(
  { store, clock }: ClientSources,
  clientId: string,
): Promise<Client | Refused> {
  const now = clock()
  const found = await store.disableClient(clientId, now, nextSecond(now))
  const client = found ? await store.findClient(clientId) : undefined
  return client ?? { refused: noSuchClient(clientId) }
}

const noSuchClient = (id: string) =>
  `There is no client ${id}. \`bursar client list\` shows them all.`

/**
 * Registers a client whose id and secret are given, not drawn: the sandbox's, the same at every start and after every
 * reset, whatever has become of it in between.
 */
export async function createSampleClient(
  { store, keyring, clock, random }: ClientSources,
  sample: {
    readonly id: string
    readonly secret: string
    readonly customerId: string | null
    readonly name: string
    readonly scopes: readonly string[]
  },
): Promise<void> {
  const client = newClient(sample.id, { ...sample, method: { kind: 'secret' } }, clock())
  await store.restoreClient(client, newSecret(new Secret(sample.secret), keyring, clock, random))
}

function newClient(
  id: string,
  wanted: Omit<NewClient, 'scopes'> & { readonly scopes: readonly string[] },
  now: bigint,
): Client {
  const { customerId, name, scopes, method } = wanted
  const untouched = { notBefore: 0n, disabledAt: undefined, lastUsedAt: undefined }
  return { id, customerId, name, scopes, method, createdAt: now, ...untouched }
}

function newSecret(secret: Secret, keyring: Keyring, clock: Clock, random: Random) {
  const id = `secret_${randomText(10, random)}`
  return { id, hash: hashSecret(secret, keyring), createdAt: clock() }
}

/** Tokens count whole seconds: this refuses every one issued so far, in the running second too. */
const nextSecond = (now: bigint): bigint => (now / 1_000_000n + 1n) * 1_000_000n

/** The algorithms in which a client may sign its assertions; FAPI 2.0 allows these. */
export const assertionAlgorithms = ['ES256', 'PS256', 'EdDSA', 'Ed25519'] as const

/**
 * Reads the public keys of a client from the text of a JSON Web Key Set (or one bare key). A private key is refused:
 * its owner has just shown it to us.
 */
export async function readClientKeys(text: string): Promise<{ jwks: string } | Refused> {
  const document = parseJson(text)
  if (typeof document !== 'object' || document === null) return { refused: 'It is no JSON object.' }
  const keys: unknown = 'keys' in document ? document.keys : [document]
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > clientKeysMax) {
    return { refused: `It must hold 1 to ${clientKeysMax} keys.` }
  }
  for (const [index, key] of keys.entries()) {
    const fault = await faultOfKey(key)
    if (fault !== undefined) return { refused: `Key ${index + 1} ${fault}` }
  }
  const ids = keys.map(({ kid }: JWK) => kid)
  if (new Set(ids).size !== ids.length) return { refused: 'Two keys have the same kid, or none.' }
  return { jwks: JSON.stringify({ keys }) }
}

async function faultOfKey(key: JWK): Promise<string | undefined> {
  if (typeof key !== 'object' || key === null) return 'is no JSON Web Key.'
  if (key.d !== undefined || key.k !== undefined) {
    return 'is private. Make a new pair and register its public half alone.'
  }
  const algorithm = { EC: 'ES256', RSA: 'PS256', OKP: 'EdDSA' }[String(key.kty)]
  try {
    await importJWK({ ...key }, algorithm ?? 'none')
    return key.kty === 'EC' && key.crv !== 'P-256' ? 'must be on the curve P-256.' : undefined
  } catch {
    return 'is no EC (P-256), RSA or Ed25519 public key.'
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
