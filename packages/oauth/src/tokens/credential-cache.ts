import {
  type Background,
  type Clock,
  type Keyring,
  type Logger,
  limitsOf,
  systemTime,
} from '@bursar/base'
import { problem } from '@bursar/contract'
import type { Client, CredentialStore, Recovery } from '@bursar/records'
import { isSealed, notSealed } from '../clients/client-seal.ts'
import { awaitsClients, openRecoveryLog, requireClients } from './recovery-state.ts'
import { importSigningKeys, type SigningKeys } from './signing-keys.ts'

const limits = limitsOf({
  /** Anyone can send an unknown key id, so it triggers a refresh at most this often. */
  unknownKeyIntervalMs: 200,
})

/** What the check of a token needs, in memory. A refresh applies changes to these very maps. */
export type KnownCredentials = {
  readonly clients: ReadonlyMap<string, Client>
  readonly clientsByExternalId: ReadonlyMap<string, Client>
  /** The expiry of each denied token, by its id. */
  readonly deniedTokens: ReadonlyMap<string, bigint>
  /** A change of any key replaces the whole map. */
  readonly signingKeys: SigningKeys
  readonly recovery: Recovery | undefined
}

export type Freshness = {
  readonly fresh: boolean
  readonly ageMs: number
  /** The store was restored, and no client gets a token until the operator has confirmed them. */
  readonly awaitsClients: boolean
}

/** Clients, denied tokens and signing keys. The cache polls the store and listens for changes. */
export type CredentialCache = {
  current(): KnownCredentials
  freshness(): Freshness
  /** Throws a Problem 503 if it cannot know which clients are live: rather refuse than guess. */
  requireFresh(): void
  /** Reads what has changed since the last refresh. Rejects if the store cannot be read. */
  refresh(): Promise<void>
  /** Reads everything, after the store has gone back to an earlier state. */
  reload(): Promise<void>
  /** Refreshes for an unknown key id, at a limited rate: anyone can send one. */
  refreshForUnknownKey(): Promise<void>
  close(): void
}

export type CredentialCacheDeps = {
  readonly store: CredentialStore
  readonly keyring: Keyring
  readonly clock: Clock
  readonly log: Logger
  readonly background: Background
  readonly ageSecondsMax: number
  /** Called within a poll after a key has changed, or an erasure has destroyed one. */
  readonly onKeysEnded?: () => void
}

/** How often denied tokens that have expired are dropped, in microseconds. */
const forgetEvery = 60_000_000n

export const externalKey = (issuer: string, externalId: string): string =>
  JSON.stringify([issuer, externalId])

/** Reads every credential, then keeps up with the changes. Rejects if the store cannot be read. */
export async function openCredentialCache(deps: CredentialCacheDeps): Promise<CredentialCache> {
  const { store, clock, log } = deps
  const known = await openKnownCredentials(deps)
  let readAt = clock()
  let confirmedAt = systemTime.elapsedMs()
  let isStale = false
  let failure: { readonly error: unknown } | undefined
  const logRecovery = openRecoveryLog(log)
  logRecovery(known.current().recovery)

  const ageMs = () => Math.floor(systemTime.elapsedMs() - confirmedAt)
  const isFresh = () => ageMs() <= deps.ageSecondsMax * 1000
  const update = async () => {
    const [startedAt, begunAt, readsAll] = [clock(), systemTime.elapsedMs(), isStale]
    isStale = false
    // When the clock goes back, denied tokens that had expired count again.
    if (readsAll || startedAt < readAt) await known.readAll()
    else if ((await store.revision()) !== known.revision()) await known.readChanges()
    logRecovery(known.current().recovery)
    readAt = startedAt
    confirmedAt = begunAt
  }
  const poll = async () => {
    try {
      await update()
      failure = undefined
    } catch (error) {
      failure = { error }
      log.warn({ err: error, ageMs: ageMs() }, 'clients, keys and revoked tokens cannot be read')
    }
    return { isFailed: failure !== undefined }
  }
  const poller = deps.background.start('read-credentials', poll)
  const refresh = async () => {
    await poller.runSoon()
    if (failure !== undefined) throw failure.error
  }
  const stopListening = store.onChange(() => void poller.runSoon())
  let unknownKey = { at: Number.NEGATIVE_INFINITY, refreshed: Promise.resolve() }
  return {
    current: known.current,
    freshness: () => ({
      fresh: isFresh(),
      ageMs: ageMs(),
      awaitsClients: awaitsClients(known.current().recovery),
    }),
    requireFresh: () => {
      const detail = 'tokens cannot be checked at the moment, try again shortly'
      if (!isFresh()) throw problem('unavailable', detail, { retryAfter: 5 })
      requireClients(known.current().recovery)
    },
    refresh,
    reload: () => {
      isStale = true
      return refresh()
    },
    refreshForUnknownKey: () => {
      // Requests within the interval share one refresh and wait for its result.
      const now = systemTime.elapsedMs()
      const isDue = now - unknownKey.at >= limits.unknownKeyIntervalMs
      if (isDue) unknownKey = { at: now, refreshed: refresh() }
      return unknownKey.refreshed
    },
    close: () => {
      poller.stop()
      stopListening()
    },
  }
}

/** A stranger may add any number of them. */
const FOREIGN_SHOWN_MAX = 10

type KnownDeps = Omit<CredentialCacheDeps, 'background' | 'ageSecondsMax'>

/** Holds the credentials. A change costs what has changed, however many clients there are. */
async function openKnownCredentials({ store, keyring, clock, log, ...deps }: KnownDeps) {
  const clients = new Map<string, Client>()
  const clientsByExternalId = new Map<string, Client>()
  const deniedTokens = new Map<string, bigint>()
  const known: { -readonly [Name in keyof KnownCredentials]: KnownCredentials[Name] } = {
    clients,
    clientsByExternalId,
    deniedTokens,
    signingKeys: new Map(),
    recovery: undefined,
  }
  let revision: bigint | undefined
  let forgottenAt = clock()

  const addClient = (client: Client) => {
    clients.set(client.id, client)
    if (client.method.kind !== 'issuer') return
    clientsByExternalId.set(externalKey(client.method.issuer, client.method.externalId), client)
  }
  const forgetExpired = (now: bigint) => {
    if (now - forgottenAt < forgetEvery) return
    forgottenAt = now
    for (const [jti, expiresAt] of deniedTokens) if (expiresAt <= now) deniedTokens.delete(jti)
  }
  const removeClient = (id: string) => {
    const method = clients.get(id)?.method
    clients.delete(id)
    if (method?.kind !== 'issuer') return
    clientsByExternalId.delete(externalKey(method.issuer, method.externalId))
  }
  const read = async (since: bigint | undefined) => {
    const now = clock()
    // The revision is read before the keys: a key added in between is read now or at the next poll.
    const states = await store.readStates(now, since)
    if (states.keysChanged) {
      await keyring.reload()
      known.signingKeys = await importSigningKeys(keyring)
    }
    // What a retired key has opened must not stay in use.
    if (states.keysDestroyed || states.keysChanged) deps.onKeysEnded?.()
    if (states.isComplete)
      for (const map of [clients, clientsByExternalId, deniedTokens]) map.clear()
    const foreign: string[] = []
    for (const client of states.clients) {
      removeClient(client.id)
      if (isSealed(client, keyring)) addClient(client)
      else foreign.push(client.id)
    }
    if (foreign.length > 0) {
      log.error({ clients: foreign.slice(0, FOREIGN_SHOWN_MAX), count: foreign.length }, notSealed)
    }
    for (const { jti, expiresAt } of states.deniedTokens) deniedTokens.set(jti, expiresAt)
    known.recovery = states.recovery
    revision = states.revision
    forgetExpired(now)
  }
  await read(undefined)
  return {
    current: (): KnownCredentials => known,
    revision: () => revision,
    readAll: () => read(undefined),
    readChanges: () => read(revision),
  }
}
