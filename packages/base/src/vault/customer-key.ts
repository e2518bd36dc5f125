import { createHmac } from 'node:crypto'
import type { PurposeKey } from './keyring.ts'
import type { Random } from './random.ts'
import { unwrapKey, wrapKey } from './wrap.ts'

/**
 * The key of a customer. Bodies are sealed with `sealing`. The digests of their contents are made
 * with `digesting`, which stays when the key is rotated: the same content has the same digest.
 */
export type CustomerKey = {
  readonly customerId: string
  /** Names the key in each body that it has sealed. */
  readonly id: string
  readonly sealing: Buffer
  readonly digesting: Buffer
  /** Digests names that are indexed. It is the same for every customer, and is not rotated. */
  readonly indexing: Buffer
}

/** The key as it is stored. `kek` names the purpose key that wraps it. */
export type WrappedCustomerKey = {
  readonly customerId: string
  readonly id: string
  readonly kek: string
  readonly wrapped: string
}

const KEY_BYTES = 32

/** A new key. With the previous key of the customer, digests stay as they are. */
export const makeCustomerKey = (
  customerId: string,
  random: Random,
  previous: Pick<CustomerKey, 'indexing'> & Partial<Pick<CustomerKey, 'digesting'>>,
): CustomerKey => ({
  customerId,
  id: `k${random(KEY_ID_BYTES).toString('hex')}`,
  sealing: random(KEY_BYTES),
  digesting: previous.digesting ?? random(KEY_BYTES),
  indexing: previous.indexing,
})

const KEY_ID_BYTES = 5

/** The length of the id of a key. */
export const KEY_ID_LENGTH = 1 + 2 * KEY_ID_BYTES

export function wrapCustomerKey(
  key: CustomerKey,
  kek: Pick<PurposeKey, 'id' | 'key'>,
  random: Random,
): WrappedCustomerKey {
  const { customerId, id } = key
  const both = Buffer.concat([key.sealing, key.digesting])
  return { customerId, id, kek: kek.id, wrapped: wrapKey(kek, both, boundTo(key), random) }
}

/** Undefined if it was wrapped with another key, or has changed, or is that of another customer. */
export function unwrapCustomerKey(
  wrapped: WrappedCustomerKey,
  kek: Pick<PurposeKey, 'id' | 'key'>,
  indexing: Buffer,
): CustomerKey | undefined {
  const both = unwrapKey(kek, wrapped.wrapped, boundTo(wrapped))
  if (both?.length !== 2 * KEY_BYTES) return undefined
  const { customerId, id } = wrapped
  return {
    customerId,
    id,
    sealing: both.subarray(0, KEY_BYTES),
    digesting: both.subarray(KEY_BYTES),
    indexing,
  }
}

/**
 * Names every key that a customer has had since its first one: it is made with the part that a
 * rotation keeps. Nobody makes or recognises it without the key, and no renewal changes it.
 */
export const keyFingerprint = ({ digesting }: Pick<CustomerKey, 'digesting'>): string =>
  createHmac('sha256', digesting).update('fingerprint').digest('hex')

/** Binds the number that a store has given to a customer to its id: `<key id>.<hex>`. */
export const bindNumber = (
  { id, key }: Pick<PurposeKey, 'id' | 'key'>,
  customerId: string,
  number: bigint,
): string => {
  const hmac = createHmac('sha256', key).update(JSON.stringify([String(number), customerId]))
  return `${id}.${hmac.digest('hex').slice(0, BINDING_DIGITS)}`
}

const BINDING_DIGITS = 128 / 4

const boundTo = ({ customerId, id }: { readonly customerId: string; readonly id: string }) =>
  JSON.stringify(['customer-key', customerId, id])
