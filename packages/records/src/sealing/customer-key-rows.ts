import {
  bindNumber,
  type Clock,
  type CustomerKey,
  type IndexKey,
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
import { StoreDamaged } from '../unavailable.ts'
import type { CustomerKeySource, CustomerKeys } from './customer-keys.ts'
import { haveKeyedRows } from './keyed-tables.ts'

/** The keys that wrap those of customers. */
export type WrappingKeys = Pick<Keyring, 'current' | 'byId' | 'all' | 'reload' | 'refresh'>

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
    ensure: async (customer) => {
      const found = await find(customer, 'fresh')
      if (found !== undefined) return found
      // Not in the transaction, which would wait for the other database.
      await refreshed(deps)
      const made = await transact(
        (session) => ensureKeys(session, deps, customer),
        systemTime.elapsedMs() + recordsLimits.recordLockedMs,
      )
      return await withoutDestroyed(made, deps)
    },
    make: async (customer) => {
      const keyring = await refreshed(deps)
      const key = makeCustomerKey(customer, systemRandom, indexKeyOf(keyring))
      return { key, wrapped: wrap(key, keyring) }
    },
  }
}

/** The keyring with every key that is in use: a command may have read it long ago. */
export async function refreshed({ keyring }: Pick<KeyMaking, 'keyring'>): Promise<WrappingKeys> {
  const keys = await keyring()
  await keys.refresh()
  return keys
}

/** Keys without those that an erasure has destroyed. */
export async function withoutDestroyed(
  keys: CustomerKeys,
  { findDestroyedKeys }: Pick<StoredKeysDeps, 'findDestroyedKeys'>,
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

/** Those of keys that open, and of the keys that their customer had before. */
export const fingerprintsOf = ({ byId }: CustomerKeys): readonly string[] => [
  ...new Set([...byId.values()].flatMap((key) => [...key.former, keyFingerprint(key)])),
]

/** The key that digests the names of new records in the index. */
export function indexKeyOf(keyring: WrappingKeys): IndexKey {
  const { id, key } = keyring.current('name-index')
  return { indexKey: id, indexing: key }
}

/** The keys that names in the index may be digested with. */
export async function indexKeysOf({
  keyring,
}: Pick<KeyMaking, 'keyring'>): Promise<readonly Uint8Array[]> {
  const keys = (await keyring()).all('name-index')
  return keys.filter(({ revokedAt }) => revokedAt === undefined).map(({ key }) => key)
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
  const keyring = await deps.keyring()
  const key = makeCustomerKey(customerId, systemRandom, indexKeyOf(keyring))
  await insertKeys(session, { ...deps, isFirst: true }, [wrap(key, keyring)])
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
    text: `select id, kek, index_key, wrapped, current from ${dialect.tableName('customer_key')}
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
  // Another process may have made the purpose keys since this one has read them.
  const named = rows.flatMap((row) => [text(row, 'kek'), text(row, 'index_key')])
  if (named.some((id) => keyring.byId(id) === undefined)) await keyring.reload()
  const byId = new Map<string, CustomerKey>()
  let current: CustomerKey | undefined
  for (const row of rows) {
    const [id, kek, indexKey] = [text(row, 'id'), text(row, 'kek'), text(row, 'index_key')]
    const [wrapping, index] = [keyring.byId(kek), keyring.byId(indexKey)]
    if (wrapping?.purpose !== 'customer-key' || index?.purpose !== 'name-index') continue
    const wrapped = { customerId, id, kek, indexKey, wrapped: text(row, 'wrapped') }
    const key = unwrapCustomerKey(wrapped, wrapping, index.key)
    if (key === undefined) continue
    byId.set(id, key)
    if (isTrue(row.current)) current = key
  }
  return { current, byId }
}

export const wrap = (key: CustomerKey, keyring: WrappingKeys): WrappedCustomerKey =>
  wrapCustomerKey(key, keyring.current('customer-key'), systemRandom)

type Inserting = Pick<KeyMaking, 'dialect' | 'clock'> & {
  /** Whether they are first keys. Else stored bodies of the customers have other ones yet. */
  readonly isFirst: boolean
}

/**
 * Stores keys as the current ones of their customers, unless these have one. Returns the customers
 * whose keys were stored. Throws a StoreDamaged for a first key of a customer whose key was lost:
 * its records must not be forgotten in silence.
 */
export async function insertKeys(
  session: Reads,
  { dialect, clock, isFirst }: Inserting,
  keys: readonly WrappedCustomerKey[],
): Promise<ReadonlySet<string>> {
  const stored = new Set<string>()
  const columns = {
    customer_id: 'text[]',
    id: 'text[]',
    kek: 'text[]',
    index_key: 'text[]',
    wrapped: 'text[]',
  } as const
  const statement = `insert into ${dialect.tableName('customer_key')}
      (customer_id, id, kek, index_key, wrapped, created_at, current, seals_all)
    select customer_id, id, kek, index_key, wrapped, ${dialect.parameter(6, 'bigint')},
      ${dialect.boolean(true)}, ${dialect.boolean(isFirst)}
    from ${dialect.unnest('made', columns)} where true
    on conflict do nothing returning customer_id`
  for (let from = 0; from < keys.length; from += KEYS_TOGETHER) {
    const part = keys.slice(from, from + KEYS_TOGETHER)
    const listOf = (of: (key: WrappedCustomerKey) => string) => dialect.list(part.map(of))
    const lists = [
      listOf(({ customerId }) => customerId),
      listOf(({ id }) => id),
      listOf(({ kek }) => kek),
      listOf(({ indexKey }) => indexKey),
      listOf(({ wrapped }) => wrapped),
    ]
    const added = await session.rows({
      text: statement,
      values: [...lists, clock()],
      prepare: true,
    })
    const ids = added.map((row) => text(row, 'customer_id'))
    if (isFirst && (await haveKeyedRows(session, dialect, ids))) throw new StoreDamaged(KEY_LOST)
    for (const id of ids) stored.add(id)
  }
  return stored
}

const KEYS_TOGETHER = 500

const KEY_LOST =
  'the key of a customer with full records is missing; restore the store from a backup, or start a new key (docs/running.md, “Sealed records”)'

/** Makes bindings with the keys of a store. */
export const openBindings = ({
  keyring,
}: Pick<KeyMaking, 'keyring'>): Pick<CustomerKeySource, 'bindingOf'> => ({
  bindingOf: async (customer, number, keyId) => {
    if (keyId === undefined) {
      const keys = await refreshed({ keyring })
      return bindNumber(keys.current('customer-number'), customer, number)
    }
    const keys = await keyring()
    // Another process may have made the key since this one has read them.
    if (keys.byId(keyId) === undefined) await keys.reload()
    const key = keys.byId(keyId)
    return key?.purpose === 'customer-number' ? bindNumber(key, customer, number) : undefined
  },
})
