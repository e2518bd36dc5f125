import { makeCustomerKey, type PurposeKey, systemRandom, wrapCustomerKey } from '@bursar/base'
import {
  type CustomerKeySource,
  type CustomerKeys,
  openBindings,
  openSeals,
  type Sealing,
} from '@bursar/records'
import type { WrappingKeys } from '../../packages/records/src/sealing/customer-key-rows.ts'
import { dialect } from '../../packages/sqlite/src/dialect.ts'

const kek: PurposeKey = {
  id: 'key_of_tests',
  purpose: 'customer-key',
  masterId: 'none',
  key: Buffer.alloc(32, 7),
  createdAt: 0n,
  activeFrom: 0n,
  revokedAt: undefined,
}

const numbering: PurposeKey = { ...kek, id: 'key_of_numbers', purpose: 'customer-number' }

const keyring: WrappingKeys = {
  current: (purpose) => (purpose === numbering.purpose ? numbering : kek),
  byId: (id) => [kek, numbering].find((key) => key.id === id),
  reload: async () => {},
}

/** Seals with keys that one fixed key wraps, for a store that is opened without a service. */
export const testSealing: Sealing = {
  keyring: async () => keyring,
  findDestroyedKeys: async () => new Set(),
}

/** Keys that are stored nowhere. */
export function openPassingKeys(): CustomerKeySource {
  const known = new Map<string, CustomerKeys>()
  return {
    ...openBindings(testSealing),
    find: async (customer) => known.get(customer),
    ensure: async (customer) => {
      const current = makeCustomerKey(customer, systemRandom, { indexing: kek.key })
      const keys = known.get(customer) ?? { current, byId: new Map([[current.id, current]]) }
      known.set(customer, keys)
      return keys
    },
    make: async (customer) => {
      const key = makeCustomerKey(customer, systemRandom, { indexing: kek.key })
      return { key, wrapped: wrapCustomerKey(key, kek, systemRandom) }
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
