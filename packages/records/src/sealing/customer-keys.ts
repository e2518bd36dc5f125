import {
  type CustomerKey,
  keepRecentlyUsed,
  limitsOf,
  systemTime,
  type WrappedCustomerKey,
} from '@bursar/base'
import type { Tenant } from '@bursar/contract'

const limits = limitsOf({
  /** Customers whose keys a process keeps in memory, some 500 bytes each. */
  customerKeysMax: 20_000,
  /** How long a process uses the keys of a customer before it reads them again. */
  customerKeysAgeMs: 60_000,
})

/** The keys of a customer that has one. */
export type CustomerKeys = {
  /** Seals new bodies. Undefined if it does not open with the key that wraps it. */
  readonly current: CustomerKey | undefined
  /** Every key that opens, also those with which older bodies are sealed. */
  readonly byId: ReadonlyMap<string, CustomerKey>
  /** Whether the store has a key that an erasure destroyed, and that is not used again. */
  readonly hasDestroyed?: boolean
}

/** Where keys come from: the store, or another process that has them from there. */
export type CustomerKeySource = {
  /** Asks the primary if it must be fresh, where a standby may lack a new key. */
  find(customer: Tenant, isFresh: boolean): Promise<CustomerKeys | undefined>
  /** The same, after it has stored the first key of a customer that has none. */
  ensure(customer: Tenant): Promise<CustomerKeys>
  /** A key that is stored nowhere yet. */
  make(customer: Tenant): Promise<NewCustomerKey>
  /**
   * What binds a number to the customer, with the current key or the one that has this id.
   * Undefined if there is no such key.
   */
  bindingOf(customer: Tenant, number: bigint, keyId?: string): Promise<string | undefined>
}

/** A new key, and the same as a merge stores it together with the first bodies. */
export type NewCustomerKey = { readonly key: CustomerKey; readonly wrapped: WrappedCustomerKey }

/** The keys that an import makes for customers without one, by the customer. */
export type MadeKeys = Map<string, NewCustomerKey>

/** The keys that this process has used last. */
export type KnownKeys = CustomerKeySource & {
  /** What is in memory, without a promise. */
  known(customerId: string): CustomerKeys | undefined
  forget(customerId: string): void
  forgetAll(): void
}

/** A renewed key must not be used for long by a process that does not hear of it. */
type Kept = { readonly keys: CustomerKeys; readonly at: number }

/** Keeps the keys that were used last. Look-ups of one customer at a time share an answer. */
export function keepKeys(
  source: CustomerKeySource,
  customersMax: number = limits.customerKeysMax,
): KnownKeys {
  let kept = keepRecentlyUsed<string, Kept>(customersMax)
  let finding = new Map<string, Promise<CustomerKeys | undefined>>()
  const once = async <K extends CustomerKeys | undefined>(
    customer: Tenant,
    find: () => Promise<K>,
  ): Promise<K> => {
    // What is read before `forgetAll` is not kept after it.
    const { set } = kept
    const keys = await find()
    if (keys !== undefined) set(customer, { keys, at: systemTime.elapsedMs() })
    return keys
  }
  return {
    known: (customerId) => {
      const found = kept.get(customerId)
      const isFresh = found && systemTime.elapsedMs() - found.at < limits.customerKeysAgeMs
      return isFresh ? found.keys : undefined
    },
    forget: (customerId) => kept.delete(customerId),
    forgetAll: () => {
      kept = keepRecentlyUsed(customersMax)
      finding = new Map()
    },
    find: async (customer, isFresh) => {
      if (isFresh) return await once(customer, () => source.find(customer, true))
      const shared = finding
      const pending =
        shared.get(customer) ??
        once(customer, () => source.find(customer, false)).finally(() => shared.delete(customer))
      shared.set(customer, pending)
      return await pending
    },
    ensure: (customer) => once(customer, () => source.ensure(customer)),
    make: source.make,
    bindingOf: source.bindingOf,
  }
}
