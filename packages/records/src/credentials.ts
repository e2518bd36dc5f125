import type { PurposeKeyStore } from '@bursar/base'

/** How a client authenticates: by a secret, its own keys, or tokens of a trusted issuer. */
export type ClientMethod =
  | { readonly kind: 'secret' }
  | { readonly kind: 'keys'; readonly jwks: string }
  | { readonly kind: 'issuer'; readonly issuer: string; readonly externalId: string }

/** An API client. Instants are microseconds since 1970, UTC. */
export type Client = {
  readonly id: string
  /** Null for a client of the operator, which cannot read records through `/v2`. */
  readonly customerId: string | null
  /** The one customer that a client of the operator is bound to. */
  readonly boundTo: string | null
  readonly name: string
  readonly scopes: readonly string[]
  readonly method: ClientMethod
  readonly createdAt: bigint
  /** Tokens issued before this are refused, even if they have not expired. */
  readonly notBefore: bigint
  readonly disabledAt: bigint | undefined
  readonly lastUsedAt: bigint | undefined
  /** A keyed digest of the members that no one else may change. */
  readonly seal: string
  /** The last change that the audit log knows. */
  readonly mark?: ClientMark | undefined
}

/**
 * What a change has left of a client. It tells the last state from an older one, which was sealed
 * too.
 */
export type ClientMark = {
  /** Counts the changes, from 1. */
  readonly number: bigint
  /** The row may have a later one, never an earlier one. */
  readonly notBefore: bigint
  /** The seal of the row. */
  readonly rowSeal: string
  /** The id, hash and times of each secret. */
  readonly secrets: string
  /** A keyed digest. */
  readonly seal: string
}

/** Makes the seal of a client's mark. */
export type SealMark = (clientId: string, mark: Omit<ClientMark, 'seal'>) => string

/** A valid secret. `hash` is `hmac256:<id of the client-secret key>:<hex>`. */
export type ClientSecret = {
  readonly id: string
  readonly hash: string
  readonly createdAt: bigint
  /** Set when a newer secret replaces this one. It is refused from this time on. */
  readonly expiresAt: bigint | undefined
  readonly lastUsedAt: bigint | undefined
}

export type ClientWithSecrets = Client & { readonly secrets: readonly ClientSecret[] }

export type NewSecret = Pick<ClientSecret, 'id' | 'hash' | 'createdAt'>

type Rotation = {
  readonly secret: NewSecret
  /** When the newest secret until now expires. Undefined deletes it at once; older ones always. */
  readonly previousUntil: bigint | undefined
  /** Refuses tokens issued before this. Undefined keeps the client's value. */
  readonly notBefore: bigint | undefined
}

/** What the check of a token needs. Each part is at least as new as the revision. */
type CredentialStates = {
  readonly revision: bigint
  /** False if it has only the clients and denied tokens that changed after `since`. */
  readonly isComplete: boolean
  readonly clients: readonly Client[]
  readonly deniedTokens: readonly { readonly jti: string; readonly expiresAt: bigint }[]
  /** Whether a purpose key was added or changed. */
  readonly keysChanged: boolean
  /** Whether an erasure may have destroyed the key of a customer. */
  readonly keysDestroyed: boolean
  readonly recovery: Recovery | undefined
}

/**
 * What is known of the last restore of the store. After a restore, nobody knows which clients were
 * disabled and which fees were consumed since the backup. Instants are microseconds since 1970,
 * UTC.
 */
export type Recovery = {
  /** The point in time of the restored state. */
  readonly restoredTo: bigint
  readonly restoredAt: bigint
  /** Every quote that was created before this was restored. */
  readonly quotesBefore: bigint
  /** Undefined: no client may get a token. */
  readonly clientsConfirmedAt: bigint | undefined
  /** Undefined: customers that were erased after the backup may be back. */
  readonly erasuresRepeatedAt: bigint | undefined
  /** Undefined: no withdrawal may consume a restored quote. */
  readonly reconciledAt: bigint | undefined
}

export type NewRecovery = Pick<Recovery, 'restoredTo' | 'restoredAt' | 'quotesBefore'>

/** Every change bumps the revision of credentials, so that running servers learn of it. */
export type RecoveryStore = {
  readRecovery(): Promise<Recovery | undefined>
  /** Starts a recovery and refuses every token from before `notBefore`. Replaces an earlier one. */
  startRecovery(recovery: NewRecovery, notBefore: bigint): Promise<void>
  /** Lets clients get tokens again. A second call keeps the first time. */
  confirmClients(at: bigint): Promise<void>
  /** Notes that what was erased since the backup is erased again. A second call changes nothing. */
  noteErasuresRepeated(at: bigint): Promise<void>
  /** Ends the recovery. A second call keeps the first time. */
  endRecovery(at: bigint): Promise<void>
}

/** The removal of a customer. Instants are microseconds since 1970, UTC. */
export type Erasure = {
  readonly customerId: string
  readonly begunAt: bigint
  /** Undefined: it was cut off, and must be run again. */
  readonly endedAt: bigint | undefined
  /** What it removes, by what it is called. */
  readonly removed: Readonly<Record<string, number>>
}

export type ErasureStore = {
  /** In the order in which they began. */
  listErasures(): Promise<readonly Erasure[]>
  /** Begins an erasure, or returns the one of the customer that was cut off. */
  beginErasure(begun: Omit<Erasure, 'endedAt'>): Promise<Erasure>
  endErasure(ended: Erasure): Promise<void>
  /** Lists keys of customers, by their fingerprints, before an erasure destroys them. */
  addDestroyedKeys(fingerprints: readonly string[]): Promise<void>
  /** Which of these keys an erasure has destroyed. */
  findDestroyedKeys(fingerprints: readonly string[]): Promise<ReadonlySet<string>>
  /** The clients of a customer, and those that are bound to it. */
  clientsOf(customerId: string): Promise<readonly Client[]>
  /**
   * Replaces a client by one without keys and names, which `change` makes of it, and deletes its
   * secrets. The row stays, disabled: a server would not notice that it is gone.
   */
  eraseClient(
    clientId: string,
    change: (client: Client) => Client,
    sealMark: SealMark,
  ): Promise<void>
}

export type Rehashed = {
  readonly secretId: string
  readonly before: string
  readonly after: string
}

type KeysAndRecovery = PurposeKeyStore & RecoveryStore & ErasureStore

/**
 * A change that running servers must learn of bumps `revision` in the same transaction. Every
 * method rejects with a StoreUnavailable if the store cannot be reached.
 */
export type CredentialStore = KeysAndRecovery & {
  revision(): Promise<bigint>
  /**
   * What changed after revision `since`, or everything. Leaves out refused tokens that have expired
   * by `now`. Answers everything, too, where `since` is not a revision of this store's past.
   */
  readStates(now: bigint, since?: bigint): Promise<CredentialStates>
  /** Calls `run` after a change, where the store can notify. Returns the function that stops it. */
  onChange(run: () => void): () => void

  findClient(id: string): Promise<ClientWithSecrets | undefined>
  /** In order of creation. */
  listClients(): Promise<readonly ClientWithSecrets[]>
  /** `taken` if a client already has the id, or the pair of issuer and external id. */
  addClient(
    client: Client,
    secret: NewSecret | undefined,
    sealMark: SealMark,
  ): Promise<'added' | 'taken'>
  /** Replaces a client by this one. Only the sandbox does this, to its own clients. */
  restoreClient(client: Client, secret: NewSecret, sealMark: SealMark): Promise<void>
  /** False if the client does not exist. */
  rotateSecret(clientId: string, rotation: Rotation, sealMark: SealMark): Promise<boolean>
  /**
   * Replaces name, scopes, `disabledAt`, `notBefore` and the seal of a client by those that
   * `change` returns. It is called with the stored client, which no one else changes meanwhile, and
   * with what a mark would say of its secrets. Undefined if there is no client, or if `change`
   * returns nothing.
   */
  changeClient(
    clientId: string,
    change: (client: Client, secrets: string) => Client | undefined,
    sealMark: SealMark,
  ): Promise<Client | undefined>
  /**
   * Replaces the hash of a secret by another one of the same secret. It must be as it was read, and
   * `isOwn` must agree to the stored client and to what a mark would say of its secrets.
   */
  rehashSecret(
    clientId: string,
    replaced: Rehashed,
    isOwn: (client: Client, secrets: string) => boolean,
    sealMark: SealMark,
  ): Promise<void>
  /** Stores when a client and its secret were last used. Does not bump the revision. */
  recordUse(clientId: string, secretId: string | undefined, at: bigint): Promise<void>

  /** Refuses a token until it expires. May be called twice for one token. */
  denyToken(jti: string, expiresAt: bigint, now: bigint): Promise<void>
  /** True for the first use of an assertion id by a client. Does not bump the revision. */
  useAssertion(clientId: string, jti: string, expiresAt: bigint, now: bigint): Promise<boolean>

  /** Keys that were revoked and tokens that were refused, of which the tables say nothing more. */
  findPutBack(now: bigint): Promise<{ readonly keys: readonly string[]; readonly tokens: number }>

  /** The faults that an integrity check finds; empty if there are none. */
  integrityFaults(): Promise<readonly string[]>
  close(): Promise<void>
}
