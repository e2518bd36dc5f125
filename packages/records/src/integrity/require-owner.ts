import { asTenant } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { optionalText } from '../row.ts'
import { ownerOf } from '../schema/customers.ts'
import { type CustomerNumbers, NOT_OWN } from '../sealing/customer-numbers.ts'
import type { TenantReads } from '../session.ts'
import type { DamagedRecords } from './damaged-records.ts'

/** Rejects with a StoreDamaged if an `ownerOf` that a read has found is not the customer's. */
export type RequireOwner = (customerId: string, owner: string | undefined) => Promise<void>

type Deps = {
  readonly dialect: Dialect
  readonly ofTenant: TenantReads
  readonly numbers: CustomerNumbers
  readonly damaged: DamagedRecords
}

/** Reads the owner that a customer has now. Undefined for one that has no row. */
export const ownerReader = ({ dialect, ofTenant }: Pick<Deps, 'dialect' | 'ofTenant'>) => {
  const { tableName, parameter } = dialect
  const text = `select ${ownerOf('owner')} as owner from ${tableName('customer')} as owner
    where id = ${parameter(1, 'text')}`
  return async (customerId: string): Promise<string | undefined> => {
    const reads = ofTenant(asTenant(customerId))
    const [row] = await reads.rows({ text, values: [customerId], prepare: true })
    return row && optionalText(row, 'owner')
  }
}

/**
 * A number that was swapped with that of another customer is found by the read that takes it from
 * the table, and known as damage of the customer until it is mended.
 */
export function openRequireOwner({ numbers, damaged, ...deps }: Deps): RequireOwner {
  const read = ownerReader(deps)
  return async (customerId, owner) => {
    if (owner === undefined || (await numbers.isOwn(customerId, owner))) return
    const [number = ''] = owner.split(' ')
    const record = { customerId, kind: 'customers', id: number, fault: NOT_OWN }
    throw damaged.note(record, async () => {
      const now = await read(customerId)
      return now === undefined || (await numbers.isOwn(customerId, now))
    })
  }
}
