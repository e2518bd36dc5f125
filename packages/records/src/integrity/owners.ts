import { asTenant } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { text } from '../row.ts'
import { ownerOf } from '../schema/customers.ts'
import { type CustomerNumbers, NOT_OWN } from '../sealing/customer-numbers.ts'
import type { TenantReads } from '../session.ts'
import type { KnownDamage } from './known-damage.ts'

/** Compares the number of a customer with its binding. */
export type Owners = {
  /** Rejects with a StoreDamaged if an `ownerOf` that a read has found is not the customer's. */
  require(customerId: string, found: string | undefined): Promise<void>
  /** The same with what is stored now. */
  requireStored(customerId: string): Promise<void>
}

export type RequireOwner = Owners['require']

type Deps = {
  readonly dialect: Dialect
  readonly ofTenant: TenantReads
  readonly numbers: CustomerNumbers
  readonly damage: KnownDamage
}

/** A number swapped with that of another customer is found by the read that takes it. */
export function openOwners({ dialect, ofTenant, numbers, damage }: Deps): Owners {
  const { tableName, parameter } = dialect
  const query = `select ${ownerOf('owner')} as owner from ${tableName('customer')} as owner
    where id = ${parameter(1, 'text')}`
  /** Undefined for a customer that has no row. */
  const read = async (customerId: string): Promise<string | undefined> => {
    const reads = ofTenant(asTenant(customerId))
    const [row] = await reads.rows({ text: query, values: [customerId], prepare: true })
    return row && text(row, 'owner')
  }
  const require: RequireOwner = async (customerId, found) => {
    if (found === undefined || (await numbers.isOwn(customerId, found))) return
    const [number = ''] = found.split(' ')
    throw damage.noteRead({ kind: 'customers', id: number, fault: NOT_OWN })
  }
  return {
    require,
    requireStored: async (customerId) => require(customerId, await read(customerId)),
  }
}
