import assert from 'node:assert/strict'
import { createECDH } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { ConfigError } from '../config.ts'
import { commandHint } from '../version.ts'
import type { MasterKeys } from './master-key.ts'
import {
  type Purpose,
  type PurposeKeyStore,
  purposes,
  resealedPurposes,
  type WrappedKey,
} from './purpose-key.ts'
import type { Random } from './random.ts'
import { unwrapKey, wrapKey } from './wrap.ts'

/** A decrypted key: 32 random bytes. A token-signing key is the private scalar of a P-256 key. */
export type PurposeKey = Omit<WrappedKey, 'wrapped'> & { readonly key: Buffer }

/** The decrypted keys of a store. They exist in memory only. */
export type Keyring = {
  /** The key for new work. */
  current(purpose: Purpose): PurposeKey
  /** The key with this id, for older work. Undefined if it is unknown or revoked. */
  byId(id: string): PurposeKey | undefined
  /** Every key of a purpose, including revoked keys, in the order in which they were added. */
  all(purpose: Purpose): readonly PurposeKey[]
  /** The purposes whose first key this process has made. */
  readonly made: readonly Purpose[]
  /** Reads the store again. On failure it keeps the known keys. */
  reload(): Promise<void>
  /** The same, unless it has read it within a second: no new key is used sooner. */
  refresh(): Promise<void>
  /** Adds a key. `revokeOthers` revokes the others now instead of letting them expire. */
  rotate(purpose: Purpose, options: { readonly revokeOthers: boolean }): Promise<PurposeKey>
  /** Ends keys under which nothing is stored any more: nothing is accepted under them. */
  retire(ids: readonly string[]): Promise<void>
  /** Wraps every key with the current master key. Returns how many had another one. */
  rewrap(): Promise<number>
}

export type KeyringDeps = {
  readonly store: PurposeKeyStore
  readonly masters: MasterKeys
  readonly clock: Clock
  readonly random: Random
  /** For a process that may not make keys. */
  readonly readsOnly?: boolean
}

/** Longer than the interval at which processes poll, so that each knows a key before its use. */
const ACTIVATION_DELAY_MICROS = 5_000_000n

/** A part of that delay. */
const FRESH_MICROS = 1_000_000n

/** Opens the keys and creates missing first ones. Throws a ConfigError for a wrong master key. */
export async function openKeyring(deps: KeyringDeps): Promise<Keyring> {
  const { store, masters, clock, random } = deps
  let keys = await readKeys(store, masters)
  let readAt = clock()
  const made: Purpose[] = []
  for (const purpose of deps.readsOnly === true ? [] : purposes) {
    if (keys.some((key) => key.purpose === purpose)) continue
    if (await store.addPurposeKey(makeKey(deps, purpose, clock()), 'if-none')) made.push(purpose)
  }
  keys = await readKeys(store, masters)

  const reload = async () => {
    const begunAt = clock()
    keys = await readKeys(store, masters)
    readAt = begunAt
  }
  return {
    current: (purpose) => newestActive(keys, purpose, clock()),
    byId: (id) => keys.find((key) => key.id === id && key.revokedAt === undefined),
    all: (purpose) => keys.filter((key) => key.purpose === purpose),
    made,
    reload,
    refresh: async () => {
      const age = clock() - readAt
      if (age < 0n || age >= FRESH_MICROS) await reload()
    },
    rotate: async (purpose, { revokeOthers }) => {
      const now = clock()
      const wrapped = makeKey(deps, purpose, revokeOthers ? now : now + ACTIVATION_DELAY_MICROS)
      await store.addPurposeKey(wrapped, revokeOthers ? 'instead' : 'beside')
      await reload()
      return openKey(masters, wrapped)
    },
    retire: async (ids) => {
      await store.endPurposeKeys(ids, clock())
      await reload()
    },
    rewrap: async () => {
      await reload()
      const stale = keys.filter((key) => key.masterId !== masters.current.id)
      await store.rewrapPurposeKeys(stale.map((key) => sealKey(masters, key, random)))
      await reload()
      return stale.length
    },
  }
}

async function readKeys(store: PurposeKeyStore, masters: MasterKeys): Promise<PurposeKey[]> {
  const wrapped = await store.readPurposeKeys()
  return wrapped.map((key) => openKey(masters, key))
}

function openKey(masters: MasterKeys, wrapped: WrappedKey): PurposeKey {
  const { current, previous } = masters
  const master = [current, previous].find((candidate) => candidate?.id === wrapped.masterId)
  if (master === undefined) {
    const configured = previous ? `${current.id} and ${previous.id}` : current.id
    throw new ConfigError(
      `The store's keys are wrapped with master key ${wrapped.masterId}, but ${configured} is configured. Set BURSAR_MASTER_KEY to the last master key of this store, or set that one as BURSAR_MASTER_KEY_PREVIOUS and run ${commandHint('keys rotate-master')}.`,
    )
  }
  const key = unwrapKey(master, wrapped.wrapped, boundTo(wrapped))
  if (key === undefined) {
    throw new ConfigError(
      `Key ${wrapped.id} (${wrapped.purpose}) is damaged in the store: it does not open with its master key. Restore the credentials database from a backup.`,
    )
  }
  const { wrapped: _sealed, ...rest } = wrapped
  return { ...rest, key }
}

function sealKey(masters: MasterKeys, key: PurposeKey, random: Random): WrappedKey {
  const { key: bytes, ...rest } = key
  const wrapped = wrapKey(masters.current, bytes, boundTo(key), random)
  return { ...rest, masterId: masters.current.id, wrapped }
}

const boundTo = (key: { id: string; purpose: Purpose }) => `${key.id}|${key.purpose}`

const KEY_ID_BYTES = 10

/** The length of the id of a purpose key. */
export const PURPOSE_KEY_ID_LENGTH = 'key_'.length + 2 * KEY_ID_BYTES

function makeKey(deps: KeyringDeps, purpose: Purpose, activeFrom: bigint): WrappedKey {
  const { masters, clock, random } = deps
  const id = `key_${random(KEY_ID_BYTES).toString('hex')}`
  const key = purpose === 'token-signing' ? drawScalar(random) : random(32)
  const masterId = masters.current.id
  const made = { id, purpose, key, masterId, createdAt: clock(), activeFrom, revokedAt: undefined }
  return sealKey(masters, made, random)
}

/** A P-256 private key. About one draw in four billion is out of range and is repeated. */
function drawScalar(random: Random): Buffer {
  for (;;) {
    const scalar = random(32)
    try {
      createECDH('prime256v1').setPrivateKey(scalar)
      return scalar
    } catch {}
  }
}

function newestActive(keys: readonly PurposeKey[], purpose: Purpose, now: bigint): PurposeKey {
  const live = keys.filter((key) => key.purpose === purpose && key.revokedAt === undefined)
  // If the clock was set back to before every key's start, use the oldest key.
  const found = live.findLast((key) => key.activeFrom <= now) ?? live[0]
  assert(found !== undefined, `The keyring holds no live key for ${purpose}.`)
  return found
}

/** The keys that were renewed, but have not been retired since: what is under them is accepted. */
export const olderKeys = (
  { current, all }: Pick<Keyring, 'current' | 'all'>,
  now: bigint,
): readonly PurposeKey[] =>
  resealedPurposes.flatMap((purpose) => {
    const { id: currentId } = current(purpose)
    const live = all(purpose).filter(({ revokedAt }) => revokedAt === undefined)
    return live.filter(({ id, activeFrom }) => id !== currentId && activeFrom <= now)
  })
