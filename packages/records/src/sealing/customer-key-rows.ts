import {
  bindNumber,
  type Clock,
  type CustomerKey,
  type Keyring,
  keyFingerprint,
  makeCustomerKey,
  systemRandom,
  systemTime,
  unwrapCustomerKey,
  type WrappedCustomerKey,
  wrapCustomerKey,
} from '@bursar/base'
import type { Tenant } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { isTrue, type NamedRow, text } from '../row.ts'
import type { Reads, TenantReads, Transact } from '../session.ts'
import type { CustomerKeySource, CustomerKeys } from './customer-keys.ts'

/** The keys that wrap those of customers. */
export type WrappingKeys = Pick<Keyring, 'current' | 'byId' | 'reload'>

/** What it takes to store a key. */
export type KeyMaking = {
  readonly dialect: Dialect
  readonly keyring: () => Promise<WrappingKeys>
  readonly clock: Clock
}

export type StoredKeysDeps = KeyMaking & {
  readonly ofTenant: TenantReads
  readonly transact: Transact
  /** Which keys an erasure has destroyed, by their fingerprints. */
  readonly findDestroyedKeys: (fingerprints: readonly string[]) => Promise<ReadonlySet<string>>
}

/** The keys in the table of the customers' keys, without those that an erasure has destroyed. */
export function openStoredKeys(deps: StoredKeysDeps): CustomerKeySource {
  const { ofTenant, transact } = deps
  const find = async (customer: Tenant, must?: 'fresh') => {
    const keys = await findKeys(ofTenant(customer, must), deps, customer)
    return keys && withoutDestroyed(keys, deps)
  }
  return {
    ...openBindings(deps),
    find: (customer, isFresh) => find(customer, isFresh ? 'fresh' : undefined),
    ensure: async (customer) =>
      (await find(customer, 'fresh')) ??
      (await withoutDestroyed(
        await transact(
          (session) => ensureKeys(session, deps, customer),
          systemTime.elapsedMs() + recordsLimits.recordLockedMs,
        ),
        deps,
      )),
    make: async (customer) => {
      const key = makeCustomerKey(customer, systemRandom, await indexKey(deps))
      return { key, wrapped: await wrap(key, deps) }
    },
  }
}

async function withoutDestroyed(
  keys: CustomerKeys,
  { findDestroyedKeys }: StoredKeysDeps,
): Promise<CustomerKeys> {
  const prints = fingerprintsOf(keys)
  const destroyed = prints.length === 0 ? new Set() : await findDestroyedKeys(prints)
  if (destroyed.size === 0) return keys
  const isLeft = (key: CustomerKey) => !destroyed.has(keyFingerprint(key))
  const { current, byId } = keys
  return {
    current: current && isLeft(current) ? current : undefined,
    byId: new Map([...byId].filter(([, key]) => isLeft(key))),
    hasDestroyed: true,
  }
}

/** Those of keys that open. Keys of one customer that follow one another have the same. */
export const fingerprintsOf = ({ byId }: CustomerKeys): readonly string[] => [
  ...new Set([...byId.values()].map(keyFingerprint)),
]

/** The key that digests the names in the index. */
export async function indexKey({
  keyring,
}: Pick<KeyMaking, 'keyring'>): Promise<Pick<CustomerKey, 'indexing'>> {
  return { indexing: (await keyring()).current('name-index').key }
}

/** The keys of a customer. Makes the first one. */
export async function ensureKeys(
  session: Reads,
  deps: KeyMaking,
  customerId: string,
): Promise<CustomerKeys> {
  const known = await findKeys(session, deps, customerId)
  if (known !== undefined) return known
  // Of two processes that make a first key at once, both use the one that is stored.
  const key = makeCustomerKey(customerId, systemRandom, await indexKey(deps))
  await insertKey(session, deps, key, true)
  return (await findKeys(session, deps, customerId)) ?? NO_KEYS
}

export const NO_KEYS: CustomerKeys = { current: undefined, byId: new Map() }

/** The keys of a customer, also destroyed ones. Undefined if it has none. */
export async function findKeys(
  { rows }: Reads,
  { dialect, keyring }: Pick<KeyMaking, 'dialect' | 'keyring'>,
  customerId: string,
): Promise<CustomerKeys | undefined> {
  const found = await rows({
    text: `select id, kek, wrapped, current from ${dialect.tableName('customer_key')}
      where customer_id = ${dialect.parameter(1, 'text')}`,
    values: [customerId],
    prepare: true,
  })
  return found.length === 0 ? undefined : await readKeys(found, customerId, await keyring())
}

async function readKeys(
  rows: readonly NamedRow[],
  customerId: string,
  keyring: WrappingKeys,
): Promise<CustomerKeys> {
  // Another process may have made the wrapping key since this one has read them.
  if (rows.some((row) => keyring.byId(text(row, 'kek')) === undefined)) await keyring.reload()
  const { key: indexing } = keyring.current('name-index')
  const byId = new Map<string, CustomerKey>()
  let current: CustomerKey | undefined
  for (const row of rows) {
    const [id, kek] = [text(row, 'id'), text(row, 'kek')]
    const wrapping = keyring.byId(kek)
    const wrapped = { customerId, id, kek, wrapped: text(row, 'wrapped') }
    const key = wrapping && unwrapCustomerKey(wrapped, wrapping, indexing)
    if (key === undefined) continue
    byId.set(id, key)
    if (isTrue(row.current)) current = key
  }
  return { current, byId }
}

/** Stores a key as the current one of its customer, unless the customer has a current one. */
export async function insertKey(
  session: Reads,
  deps: Pick<KeyMaking, 'dialect' | 'keyring' | 'clock'>,
  key: CustomerKey,
  sealsAll: boolean,
): Promise<void> {
  const { dialect, clock } = deps
  await insertKeys(session, { dialect, sealsAll, at: clock() }, [await wrap(key, deps)])
}

const wrap = async (key: CustomerKey, { keyring }: Pick<KeyMaking, 'keyring'>) =>
  wrapCustomerKey(key, (await keyring()).current('customer-key'), systemRandom)

type Inserting = {
  readonly dialect: Dialect
  /** Whether every stored body of the customers is sealed with these keys. */
  readonly sealsAll: boolean
  readonly at: bigint
}

/** The same for the keys of several customers. */
export async function insertKeys(
  { rows }: Reads,
  { dialect, sealsAll, at }: Inserting,
  keys: readonly WrappedCustomerKey[],
): Promise<void> {
  const columns = { customer_id: 'text[]', id: 'text[]', kek: 'text[]', wrapped: 'text[]' } as const
  const text = `insert into ${dialect.tableName('customer_key')}
      (customer_id, id, kek, wrapped, created_at, current, seals_all)
    select customer_id, id, kek, wrapped, ${dialect.parameter(5, 'bigint')},
      ${dialect.boolean(true)}, ${dialect.boolean(sealsAll)}
    from ${dialect.unnest('made', columns)} where true
    on conflict do nothing`
  for (let from = 0; from < keys.length; from += KEYS_TOGETHER) {
    const part = keys.slice(from, from + KEYS_TOGETHER)
    const listOf = (of: (key: WrappedCustomerKey) => string) => dialect.list(part.map(of))
    const lists = [
      listOf(({ customerId }) => customerId),
      listOf(({ id }) => id),
      listOf(({ kek }) => kek),
      listOf(({ wrapped }) => wrapped),
    ]
    await rows({ text, values: [...lists, at], prepare: true })
  }
}

const KEYS_TOGETHER = 500

/** Makes bindings with the keys of a store. */
export const openBindings = ({
  keyring,
}: Pick<KeyMaking, 'keyring'>): Pick<CustomerKeySource, 'bindingOf'> => ({
  bindingOf: async (customer, number, keyId) => {
    const keys = await keyring()
    if (keyId === undefined) return bindNumber(keys.current('customer-number'), customer, number)
    // Another process may have made the key since this one has read them.
    if (keys.byId(keyId) === undefined) await keys.reload()
    const key = keys.byId(keyId)
    return key?.purpose === 'customer-number' ? bindNumber(key, customer, number) : undefined
  },
})
