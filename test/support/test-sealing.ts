import assert from 'node:assert/strict'
import {
  makeCustomerKey,
  type Purpose,
  type PurposeKey,
  systemRandom,
  wrapCustomerKey,
} from '@bursar/base'
import {
  type CustomerKeySource,
  type CustomerKeys,
  openBindings,
  openSeals,
  type Sealing,
} from '@bursar/records'
import type { WrappingKeys } from '../../packages/records/src/sealing/customer-key-rows.ts'
import { dialect } from '../../packages/sqlite/src/dialect.ts'

const sealingPurposes = ['customer-key', 'customer-number', 'name-index', 'import'] as const

/** A purpose key that is the same in each run. */
const keyOf = (purpose: Purpose, age: number): PurposeKey => ({
  id: `key_of_${purpose}_${age}`,
  purpose,
  masterId: 'none',
  key: Buffer.alloc(32, age),
  createdAt: 0n,
  activeFrom: 0n,
  revokedAt: undefined,
})

/** Fixed purpose keys for a store that is opened without a service. A test can renew each. */
export function openTestSealing(): Sealing & {
  renew(purpose: (typeof sealingPurposes)[number]): void
  retire(): void
} {
  let keys = sealingPurposes.map((purpose) => keyOf(purpose, 7))
  const current = (purpose: Purpose) =>
    keys.findLast((key) => key.purpose === purpose) ?? assert.fail(purpose)
  const keyring: WrappingKeys = {
    current,
    byId: (id) => keys.find((key) => key.id === id),
    all: (purpose) => keys.filter((key) => key.purpose === purpose),
    reload: async () => {},
    refresh: async () => {},
  }
  return {
    keyring: async () => keyring,
    findDestroyedKeys: async () => new Set(),
    renew: (purpose) => {
      keys = [...keys, keyOf(purpose, keys.length + 7)]
    },
    /** Leaves the last key of each purpose. */
    retire: () => {
      keys = sealingPurposes.map(current)
    },
  }
}

export const testSealing: Sealing = openTestSealing()
const index = { indexKey: 'key_of_name-index_7', indexing: Buffer.alloc(32, 7) }

/** Keys that are stored nowhere. */
export function openPassingKeys(): CustomerKeySource {
  const known = new Map<string, CustomerKeys>()
  return {
    ...openBindings(testSealing),
    find: async (customer) => known.get(customer),
    ensure: async (customer) => {
      const current = makeCustomerKey(customer, systemRandom, index)
      const keys = known.get(customer) ?? { current, byId: new Map([[current.id, current]]) }
      known.set(customer, keys)
      return keys
    },
    make: async (customer) => {
      const key = makeCustomerKey(customer, systemRandom, index)
      return { key, wrapped: wrapCustomerKey(key, keyOf('customer-key', 7), systemRandom) }
    },
  }
}

const noSession = () => {
  throw new Error('these keys are stored nowhere')
}

/** Seals with such keys, for what needs no store. */
export const passingSeals = () =>
  openSeals({
    ...testSealing,
    source: openPassingKeys(),
    dialect,
    ofTenant: noSession,
    transact: noSession,
    clock: () => 0n,
  })

/** Changes one character of a sealed body, as what follows `set` in SQL of both engines. */
export const flipped = (column: string): string =>
  `${column} = substr(${column}, 1, 40) ||
    case when substr(${column}, 41, 1) = 'A' then 'B' else 'A' end || substr(${column}, 42)`
