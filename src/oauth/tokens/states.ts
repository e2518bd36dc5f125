import { Problem } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Client, CredentialStore } from '../../store/credentials.ts'
import type { Keyring } from '../../vault/keyring.ts'
import { pollIntervalMs, unknownKeyIntervalMs } from '../limits.ts'
import { importSigningKeys, type SigningKeys } from './signing-keys.ts'

/** All that verification looks at, in memory. Replaced as a whole; a change of identity is a change of content. */
export type States = {
  readonly revision: bigint
  readonly clients: ReadonlyMap<string, Client>
  readonly clientsByExternalId: ReadonlyMap<string, Client>
  readonly deniedTokens: ReadonlySet<string>
  readonly signingKeys: SigningKeys
}

export type Freshness = { readonly fresh: boolean; readonly ageMs: number }

/** Keeps the states no older than the poll interval, fresher where the store tells of changes, and says when it could not. */
export type StateKeeper = {
  current(): States
  freshness(): Freshness
  /** Throws a Problem 503 when the states are too old to decide by: closed, not open. */
  requireFresh(): void
  /** Asks the store for its revision and reads again where it has moved. Rejects where the store cannot be reached. */
  refresh(): Promise<void>
  /** The same, for a key id that nobody knows; often enough for a rotation, seldom enough for an attack. */
  refreshForUnknownKey(): Promise<void>
  close(): void
}

/** Runs a task again and again until the answered function is called. Injected, so that tests need not wait. */
export type Every = (intervalMs: number, task: () => void) => () => void

export const everyInterval: Every = (intervalMs, task) => {
  const timer = setInterval(task, intervalMs).unref()
  return () => clearInterval(timer)
}

export type StateSources = {
  readonly store: CredentialStore
  readonly keyring: Keyring
  readonly clock: Clock
  readonly log: Logger
  readonly every: Every
  readonly ageSecondsMax: number
}

export const externalKey = (issuer: string, externalId: string): string =>
  JSON.stringify([issuer, externalId])

/** Reads the states once, so that it answers ready, and polls from then on. Rejects where the store cannot be read. */
export async function openStates(sources: StateSources): Promise<StateKeeper> {
  const { store, clock, log } = sources
  let states = await readStates(sources)
  let readAt = clock()
  let refreshedAt = readAt

  const refresh = oneAtATime(async () => {
    const askedAt = clock()
    // A clock that was set back makes tokens good again, and among them those that were left out because they had expired.
    if ((await store.revision()) !== states.revision || askedAt < readAt) {
      states = await readStates(sources)
      readAt = askedAt
    }
    refreshedAt = askedAt
  })
  let unknownKey = { askedAt: Number.NEGATIVE_INFINITY, answered: Promise.resolve() }
  // A clock that was set back says nothing of how old they are; so long as that counts as their age, it fails closed.
  const ageMs = () => Math.abs(Number((clock() - refreshedAt) / 1000n))
  const isFresh = () => ageMs() <= sources.ageSecondsMax * 1000
  const poll = () => {
    refresh().catch((error: unknown) => {
      log.warn({ err: error, ageMs: ageMs() }, 'clients, keys and revoked tokens cannot be read')
    })
  }
  const stopPolling = sources.every(pollIntervalMs, poll)
  const stopListening = store.onChange(poll)
  return {
    current: () => states,
    freshness: () => ({ fresh: isFresh(), ageMs: ageMs() }),
    requireFresh: () => {
      if (!isFresh()) throw staleProblem()
    },
    refresh,
    refreshForUnknownKey: () => {
      // Whoever comes while the store is being asked waits for that answer instead of being refused by the old one.
      const now = performance.now()
      const isDue = now - unknownKey.askedAt >= unknownKeyIntervalMs
      if (isDue) unknownKey = { askedAt: now, answered: refresh() }
      return unknownKey.answered
    },
    close: () => {
      stopPolling()
      stopListening()
    },
  }
}

function staleProblem(): Problem {
  return new Problem(503, 'tokens cannot be checked at the moment, try again shortly', {
    headers: { 'Retry-After': '5' },
  })
}

async function readStates({ store, keyring, clock }: StateSources): Promise<States> {
  // The states carry the revision and are read first: a key added in between is read now or at the next poll.
  const { revision, clients, deniedTokens } = await store.readStates(clock())
  await keyring.reload()
  const external = clients.flatMap((client) =>
    client.method.kind === 'issuer'
      ? [[externalKey(client.method.issuer, client.method.externalId), client] as const]
      : [],
  )
  return {
    revision,
    clients: new Map(clients.map((client) => [client.id, client])),
    clientsByExternalId: new Map(external),
    deniedTokens: new Set(deniedTokens.map(({ jti }) => jti)),
    signingKeys: await importSigningKeys(keyring),
  }
}

/**
 * Whoever calls while the work is running shares the one run that comes after it: the running one may have read
 * before what the caller wants to see was written.
 */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const start = (): Promise<void> => {
    if (running === undefined) {
      running = work().finally(() => {
        running = undefined
      })
      return running
    }
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return start()
      })
    return next
  }
  return start
}
