import { createHmac } from 'node:crypto'
import type { PurposeKey } from './keyring.ts'
import type { Random } from './random.ts'
import { unwrapKey, wrapKey } from './wrap.ts'

/**
 * The key of a customer. Bodies are sealed with `sealing`, and the digests of their contents are
 * made with `digesting`. Both are renewed together.
 */
export type CustomerKey = {
  readonly customerId: string
  /** Names the key in each body that it has sealed. */
  readonly id: string
  readonly sealing: Buffer
  readonly digesting: Buffer
  /** The fingerprints of the keys that the customer had before, which go on counting as its own. */
  readonly former: readonly string[]
} & IndexKey

/** The purpose key that digests names that are indexed. It is the same for all customers. */
export type IndexKey = { readonly indexKey: string; readonly indexing: Buffer }

/** The key as it is stored. `kek` names the purpose key that wraps it. */
export type WrappedCustomerKey = {
  readonly customerId: string
  readonly id: string
  readonly kek: string
  readonly indexKey: string
  readonly wrapped: string
}

const KEY_BYTES = 32

/** A new key, of a customer that may have had another one. */
export const makeCustomerKey = (
  customerId: string,
  random: Random,
  { indexKey, indexing }: IndexKey,
  previous?: CustomerKey,
): CustomerKey => ({
  customerId,
  id: `k${random(KEY_ID_BYTES).toString('hex')}`,
  sealing: random(KEY_BYTES),
  digesting: random(KEY_BYTES),
  former: previous === undefined ? [] : [...previous.former, keyFingerprint(previous)],
  indexKey,
  indexing,
})

const KEY_ID_BYTES = 5

/** The length of the id of a key. */
export const KEY_ID_LENGTH = 1 + 2 * KEY_ID_BYTES

export function wrapCustomerKey(
  key: CustomerKey,
  kek: Pick<PurposeKey, 'id' | 'key'>,
  random: Random,
): WrappedCustomerKey {
  const { customerId, id, indexKey } = key
  const former = key.former.map((fingerprint) => Buffer.from(fingerprint, 'hex'))
  const bytes = Buffer.concat([key.sealing, key.digesting, ...former])
  const wrapped = wrapKey(kek, bytes, boundTo(key), random)
  return { customerId, id, kek: kek.id, indexKey, wrapped }
}

/** Undefined if it was wrapped with another key, or has changed, or is that of another customer. */
export function unwrapCustomerKey(
  wrapped: WrappedCustomerKey,
  kek: Pick<PurposeKey, 'id' | 'key'>,
  indexing: Buffer,
): CustomerKey | undefined {
  const bytes = unwrapKey(kek, wrapped.wrapped, boundTo(wrapped))
  if (bytes === undefined || bytes.length < 2 * KEY_BYTES) return undefined
  const part = (at: number) => bytes.subarray(at * KEY_BYTES, (at + 1) * KEY_BYTES)
  const { customerId, id, indexKey } = wrapped
  const parts = bytes.length / KEY_BYTES
  const former = Array.from({ length: parts - 2 }, (_, at) => part(at + 2).toString('hex'))
  return { customerId, id, sealing: part(0), digesting: part(1), former, indexKey, indexing }
}

/** Names a key. Nobody makes or recognises it without the key. */
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

const boundTo = ({
  customerId,
  id,
  indexKey,
}: Pick<WrappedCustomerKey, 'customerId' | 'id' | 'indexKey'>) =>
  JSON.stringify(['customer-key', customerId, id, indexKey])
