import { resources } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { CustomerRegister } from '../records/customer-entries.ts'
import { text, whole } from '../row.ts'
import type { Reads } from '../session.ts'

/** `CustomerRegister.countDeleted`. */
export function openCountDeleted(
  { rows }: Reads,
  { tableName, parameter, isAnyOf, list }: Dialect,
): CustomerRegister['countDeleted'] {
  const queries = resources.map(
    ({ kind, table }) => `
      select owner.id, '${kind}' as kind, (
        select count(*) from ${tableName(table)} as record
        where record.customer = owner.number and record.deleted = true) as counted
      from ${tableName('customer')} as owner
      where ${isAnyOf('owner.id', parameter(1, 'text[]'))}`,
  )
  return async (customerIds) => {
    const values = [list(customerIds)]
    const found = await Promise.all(queries.map((text) => rows({ text, values })))
    return found.flat().map((row) => ({
      customerId: text(row, 'id'),
      kind: text(row, 'kind'),
      counted: Number(whole(row, 'counted')),
    }))
  }
}
