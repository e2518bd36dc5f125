import { type CustomerKey, digestOf, limitsOf, type Metrics, openTimeSlices } from '@bursar/base'
import { asTenant, isKeyedKind, type Resource } from '@bursar/contract'
import { bodyChecksum, isKeyedInClear } from '../integrity/checksum.ts'
import type { SealedRecord, StorableRecord } from '../records/import.ts'
import { addPrivateTerms } from '../records/terms.ts'
import { StoreDamaged } from '../unavailable.ts'
import { openStoredKeys, type StoredKeysDeps, type WrappingKeys } from './customer-key-rows.ts'
import {
  type CustomerKeySource,
  type CustomerKeys,
  keepKeys,
  type MadeKeys,
} from './customer-keys.ts'
import { type CustomerNumbers, openCustomerNumbers } from './customer-numbers.ts'
import { keepOpenedBodies, type OpenedBodies, type StoredBody } from './opened-bodies.ts'
import { inForm, keysFor, openWithAny } from './opening.ts'

const limits = limitsOf({
  /** Customers whose first keys an import makes; those of further ones take a commit each. */
  madeKeysMax: 20_000,
})

export type Opened = { readonly body: string } | { readonly fault: string }

/**
 * Seals and opens the full bodies of kinds with a mask. Lists show masked bodies, which stay in
 * clear, so that a page is joined from stored bytes. Other kinds have no mask: their bodies are
 * stored in clear, with a digest by the key of their customer where customers pay to what they
 * say, and else with a CRC.
 */
export type Seals = {
  /**
   * A record with its body as it is to be stored. Without a promise if the key of its customer is
   * in memory. Stores the first key of a customer that has none, or adds it to those that a merge
   * will store: an import takes no lock while it is read.
   */
  seal(
    resource: Resource,
    record: StorableRecord,
    made?: MadeKeys,
  ): SealedRecord | Promise<SealedRecord>
  /** The full body as it was imported, or why it is not answered. */
  open(resource: Resource, stored: StoredBody): Opened | Promise<Opened>
  /** The same for one of many bodies, between which requests have their turn. */
  openInTurn(resource: Resource, stored: StoredBody): Opened | Promise<Opened>
  /** The same for a get of a customer, which often asks for the same record again. */
  openOften(resource: Resource, stored: StoredBody): Opened | Promise<Opened>
  /** The current key of a customer, if it is in memory. */
  known(customerId: string, keyId?: string): CustomerKey | undefined
  /** Whether a customer has older keys too, by what is in memory. */
  hasOlderKeys(customerId: string): boolean
  /** Reads the keys of a customer again, after the store has refused one. */
  forget(customerId: string): void
  /** The same for all customers, after a key was destroyed. */
  forgetAll(): void
  /** The keys, for another process that may not open them. */
  readonly keys: CustomerKeySource
  readonly numbers: CustomerNumbers
}

/** How a process seals, and where its keys come from. */
export type Sealing = {
  /** The keys that wrap those of customers, opened at their first use. */
  readonly keyring: () => Promise<WrappingKeys>
  /** Another process that gives the keys of customers, for one that may not unwrap them. */
  readonly source?: CustomerKeySource | undefined
  /** Which keys an erasure has destroyed, by their fingerprints. */
  readonly findDestroyedKeys: StoredKeysDeps['findDestroyedKeys']
}

type SealsDeps = Sealing &
  Pick<StoredKeysDeps, 'dialect' | 'ofTenant' | 'transact' | 'clock'> & {
    readonly metrics?: Metrics | undefined
  }

export function openSeals({ source, metrics, ...deps }: SealsDeps): Seals {
  const keys = keepKeys(source ?? openStoredKeys(deps))
  const opened = keepOpenedBodies()
  const slices = openTimeSlices()
  const counted = (reason: 'missing_key' | 'changed', fault: string): Opened => {
    metrics?.count('bursar_unopened_bodies_total', { reason })
    return { fault }
  }
  const keyOf = (customerId: string): CustomerKey | Promise<CustomerKey> =>
    keys.known(customerId)?.current ?? keys.ensure(asTenant(customerId)).then(currentOf)
  const findOrMake = async (customerId: string, made: MadeKeys): Promise<CustomerKey> => {
    const stored = await keys.find(asTenant(customerId), true)
    if (stored !== undefined) return currentOf(stored)
    const added = await keys.make(asTenant(customerId))
    made.set(customerId, added)
    return added.key
  }
  const openAgain = async (resource: Resource, stored: StoredBody): Promise<Opened> => {
    const customer = asTenant(stored.customerId)
    let [isChanged, isDestroyed] = [false, false]
    // A standby may have the body before the key, and a key may be another one after an erasure.
    for (const isFresh of [false, true]) {
      const found = await keys.find(customer, isFresh)
      isDestroyed = found?.hasDestroyed === true
      const candidates = keysFor(resource, stored, found)
      if (candidates.length > 0) isChanged = true
      const body = openWithAny(candidates, resource, stored)
      if (body !== undefined) return { body }
    }
    if (isChanged) return counted('changed', CHANGED)
    return counted('missing_key', isDestroyed ? KEY_DESTROYED : KEY_MISSING)
  }
  const open = (resource: Resource, stored: StoredBody, kept?: OpenedBodies) => {
    if (!isKeyedKind(resource)) return openInClear(stored)
    const candidates = keysFor(resource, stored, keys.known(stored.customerId))
    const [key] = candidates
    if (key === undefined) return openAgain(resource, stored)
    const known = kept?.find(key, resource.kind, stored)
    if (known !== undefined) return { body: known }
    const body = openWithAny(candidates, resource, stored)
    if (body === undefined) return openAgain(resource, stored)
    kept?.add(key, resource.kind, stored, body)
    return { body }
  }
  return {
    keys,
    numbers: openCustomerNumbers(keys),
    known: (customerId, keyId) => {
      const known = keys.known(customerId)
      return keyId === undefined ? known?.current : known?.byId.get(keyId)
    },
    hasOlderKeys: (customerId) => (keys.known(customerId)?.byId.size ?? 0) > 1,
    forget: keys.forget,
    forgetAll: keys.forgetAll,
    seal: (resource, record, made) => {
      if (!isKeyedKind(resource)) return inClear(record)
      const { customerId } = record
      const found = keys.known(customerId)?.current ?? made?.get(customerId)?.key
      if (found !== undefined) return sealRecord(found, resource, record)
      const key =
        made === undefined || made.size >= limits.madeKeysMax
          ? Promise.resolve(keyOf(customerId))
          : findOrMake(customerId, made)
      return key.then((ready) => sealRecord(ready, resource, record))
    },
    open: (resource, stored) => open(resource, stored),
    openInTurn: (resource, stored) =>
      slices.next()?.then(() => open(resource, stored)) ?? open(resource, stored),
    openOften: (resource, stored) => open(resource, stored, opened),
  }
}

const KEY_MISSING = 'the key of its customer is missing or does not open'
const KEY_DESTROYED =
  'an erasure of its customer has destroyed its key, and somebody has put both back; erase the customer again'
const CHANGED = 'its full body was changed, or belongs to a different record or version'
const KEY_PUT_BACK =
  'an erasure has destroyed the key of a customer, and somebody has put it back; erase the customer again'
const KEY_DAMAGED =
  'the key of a customer does not open with the key that wraps it; restore the store from a backup'

function currentOf({ current, hasDestroyed = false }: CustomerKeys): CustomerKey {
  if (current !== undefined) return current
  throw new StoreDamaged(hasDestroyed ? KEY_PUT_BACK : KEY_DAMAGED)
}

/** Compares a body that is not sealed with its checksum. */
export const openInClear = ({ customerId, body, checksum }: Omit<StoredBody, 'id'>): Opened =>
  bodyChecksum(customerId, body) === checksum
    ? { body }
    : { fault: 'its body does not match its checksum' }

/**
 * Compares a body that a list shows: by the key of its customer, where customers pay to what it
 * says, unless no key is opened.
 */
export const compareListed = (
  resource: Resource,
  stored: StoredBody,
  seals: Pick<Seals, 'open'> | undefined,
): Opened | Promise<Opened> | undefined =>
  isKeyedInClear(resource) ? seals?.open(resource, stored) : openInClear(stored)

/** A record of a kind that takes no key. */
const inClear = ({ full, privateTerms: _, ...record }: StorableRecord): SealedRecord => ({
  ...record,
  stored: full,
  checksum: bodyChecksum(record.customerId, full),
  keyId: null,
})

/** A record of any kind, with the key of its customer. */
export function sealRecord(
  key: CustomerKey,
  resource: Resource,
  given: StorableRecord,
): SealedRecord {
  if (!isKeyedKind(resource)) return inClear(given)
  const { full, privateTerms: _, ...rest } = given
  const { customerId, id } = rest
  const digest = digestOf(key, resource.kind, id, full)
  const stored = inForm(key, resource, { customerId, id, digest }, full)
  const record = { ...rest, members: sealTerms(key, resource, given) }
  return { ...record, stored, checksum: digest, keyId: key.id }
}

/** The members of a record, with its private terms. */
export function sealTerms(
  { indexing }: Pick<CustomerKey, 'indexing'>,
  { terms }: Resource,
  { members, privateTerms = [] }: Pick<StorableRecord, 'members' | 'privateTerms'>,
): StorableRecord['members'] {
  const printed = members.terms
  if (terms === undefined || typeof printed !== 'string' || privateTerms.length === 0) {
    return members
  }
  return { ...members, terms: addPrivateTerms(terms, printed, indexing, privateTerms) }
}
