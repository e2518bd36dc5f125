import type { PurposeKeyStore } from '../vault/purpose-key.ts'

/** How a client proves itself: a secret of ours, a key of its own, or a token of a trusted issuer. */
export type ClientMethod =
  | { readonly kind: 'secret' }
  | { readonly kind: 'keys'; readonly jwks: string }
  | { readonly kind: 'issuer'; readonly issuer: string; readonly externalId: string }

/** An API client. Instants are microseconds since 1970, UTC. */
export type Client = {
  readonly id: string
  /** Null for a client of the operator's own, which sees no customer's records through `/v2`. */
  readonly customerId: string | null
  readonly name: string
  readonly scopes: readonly string[]
  readonly method: ClientMethod
  readonly createdAt: bigint
  /** Tokens issued before this are refused, whatever their expiry. */
  readonly notBefore: bigint
  readonly disabledAt: bigint | undefined
  readonly lastUsedAt: bigint | undefined
}

/** A live secret. `hash` is `hmac256:<id of the client-secret key>:<hex>`, from which no secret comes back. */
export type ClientSecret = {
  readonly id: string
  readonly hash: string
  readonly createdAt: bigint
  readonly lastUsedAt: bigint | undefined
}

export type ClientWithSecrets = Client & { readonly secrets: readonly ClientSecret[] }

export type NewSecret = Pick<ClientSecret, 'id' | 'hash' | 'createdAt'>

type Rotation = {
  readonly secret: NewSecret
  /** How many of the newest secrets stay live beside the new one. */
  readonly kept: 0 | 1
  /** Refuses tokens issued before; undefined leaves the client's bound as it is. */
  readonly notBefore: bigint | undefined
}

/** Everything that verification needs. No part of it is older than the revision; a part may be newer. */
type CredentialStates = {
  readonly revision: bigint
  readonly clients: readonly Client[]
  readonly deniedTokens: readonly { readonly jti: string; readonly expiresAt: bigint }[]
}

/**
 * Clients, their secrets, the vault's wrapped keys, refused tokens and used assertions: what lies outside the wall
 * between customers. Every change that a running server must hear of bumps `revision` in its own transaction.
 * A store that cannot be reached rejects with a StoreUnavailable.
 */
export type CredentialStore = PurposeKeyStore & {
  revision(): Promise<bigint>
  /** Refused tokens that have expired by `now` are left out. */
  readStates(now: bigint): Promise<CredentialStates>
  /**
   * Runs soon after somebody may have bumped the revision, for whoever can do better than ask again and again. A store
   * that cannot tell never runs it. Answers what ends it.
   */
  onChange(run: () => void): () => void

  findClient(id: string): Promise<ClientWithSecrets | undefined>
  /** In the order they were created. */
  listClients(): Promise<readonly ClientWithSecrets[]>
  /** `taken` where the id, or the pair of issuer and external id, belongs to a client already. */
  addClient(client: Client, secret: NewSecret | undefined): Promise<'added' | 'taken'>
  /** Puts a client back as it was made, whatever has become of it since. Only the sandbox does that to its own. */
  restoreClient(client: Client, secret: NewSecret): Promise<void>
  /** False where there is no such client. */
  rotateSecret(clientId: string, rotation: Rotation): Promise<boolean>
  /** Refuses the client and every token issued before `notBefore`. False where there is no such client. */
  disableClient(clientId: string, at: bigint, notBefore: bigint): Promise<boolean>
  /** Notes when a client, and the secret it used, was last seen. Does not bump the revision. */
  recordUse(clientId: string, secretId: string | undefined, at: bigint): Promise<void>

  /** Refuses one token until it expires. Doing so twice is harmless. */
  denyToken(jti: string, expiresAt: bigint, now: bigint): Promise<void>
  /** True once per client and assertion id, until the assertion expires. Does not bump the revision. */
  useAssertion(clientId: string, jti: string, expiresAt: bigint, now: bigint): Promise<boolean>

  /** What an integrity check of the credentials finds; empty where they are sound. */
  integrityFaults(): Promise<readonly string[]>
  close(): Promise<void>
}
