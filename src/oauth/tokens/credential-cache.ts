import { Problem } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { repeat, type Schedule } from '../../platform/schedule.ts'
import type { Client, CredentialStore } from '../../store/credentials.ts'
import type { Keyring } from '../../vault/keyring.ts'
import { importSigningKeys, type SigningKeys } from './signing-keys.ts'

/** What token verification needs, in memory. A change replaces the whole object. */
export type CredentialSnapshot = {
  readonly revision: bigint
  readonly clients: ReadonlyMap<string, Client>
  readonly clientsByExternalId: ReadonlyMap<string, Client>
  readonly deniedTokens: ReadonlySet<string>
  readonly signingKeys: SigningKeys
}

export type Freshness = { readonly fresh: boolean; readonly ageMs: number }

/** Clients, denied tokens and signing keys. The cache polls the store and listens for changes. */
export type CredentialCache = {
  current(): CredentialSnapshot
  freshness(): Freshness
  /** Throws a Problem 503 when the snapshot is too old. The server refuses rather than guesses. */
  requireFresh(): void
  /** Reads the snapshot again if the revision has changed. Rejects if the store cannot be read. */
  refresh(): Promise<void>
  /** Refreshes for an unknown key id, at a limited rate: anyone can send one. */
  refreshForUnknownKey(): Promise<void>
  close(): void
}

export type CredentialCacheDeps = {
  readonly store: CredentialStore
  readonly keyring: Keyring
  readonly clock: Clock
  readonly log: Logger
  readonly schedule: Schedule
  readonly ageSecondsMax: number
}

export const externalKey = (issuer: string, externalId: string): string =>
  JSON.stringify([issuer, externalId])

/** Reads the first snapshot, then keeps it fresh. Rejects if the store cannot be read. */
export async function openCredentialCache(deps: CredentialCacheDeps): Promise<CredentialCache> {
  const { store, clock, log } = deps
  let snapshot = await readSnapshot(deps)
  let readAt = clock()
  let confirmedAt = readAt
  let failure: { readonly error: unknown } | undefined

  // If the clock jumped either way, the true age is unknown; the distance fails closed.
  const ageMs = () => Math.abs(Number((clock() - confirmedAt) / 1000n))
  const isFresh = () => ageMs() <= deps.ageSecondsMax * 1000
  const update = async () => {
    const startedAt = clock()
    // When the clock goes back, denied tokens that had expired count again.
    if ((await store.revision()) !== snapshot.revision || startedAt < readAt) {
      snapshot = await readSnapshot(deps)
      readAt = startedAt
    }
    confirmedAt = startedAt
  }
  const poll = async () => {
    try {
      await update()
      failure = undefined
    } catch (error) {
      failure = { error }
      log.warn({ err: error, ageMs: ageMs() }, 'clients, keys and revoked tokens cannot be read')
    }
    return limits.credentialPollMs
  }
  const poller = repeat(poll, limits.credentialPollMs, deps.schedule)
  const refresh = async () => {
    await poller.runSoon()
    if (failure !== undefined) throw failure.error
  }
  const stopListening = store.onChange(() => void poller.runSoon())
  let unknownKey = { at: Number.NEGATIVE_INFINITY, refreshed: Promise.resolve() }
  return {
    current: () => snapshot,
    freshness: () => ({ fresh: isFresh(), ageMs: ageMs() }),
    requireFresh: () => {
      const detail = 'tokens cannot be checked at the moment, try again shortly'
      if (!isFresh()) throw new Problem(503, detail, { headers: { 'Retry-After': '5' } })
    },
    refresh,
    refreshForUnknownKey: () => {
      // Requests within the interval share one refresh and wait for its result.
      const now = performance.now()
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

async function readSnapshot({ store, keyring, clock }: CredentialCacheDeps) {
  // Read the revision before the keys: a key added in between is read now or at the next poll.
  const { revision, clients, deniedTokens } = await store.readStates(clock())
  await keyring.reload()
  const clientsByExternalId = new Map<string, Client>()
  for (const client of clients) {
    if (client.method.kind !== 'issuer') continue
    clientsByExternalId.set(externalKey(client.method.issuer, client.method.externalId), client)
  }
  return {
    revision,
    clients: new Map(clients.map((client) => [client.id, client])),
    clientsByExternalId,
    deniedTokens: new Set(deniedTokens.map(({ jti }) => jti)),
    signingKeys: await importSigningKeys(keyring),
  }
}
