import type { Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { lockCustomers } from '../schema/customers.ts'
import { letGoList, passOn } from '../schema/held-values.ts'
import { addTerms, isStray, removeTermRows } from '../schema/record-terms.ts'
import { isCurrent } from '../schema/tables.ts'
import type { Statement, Transact } from '../session.ts'
import type { DerivedFault } from './derived-rows.ts'

/** `OperatorRecords.rewrite`. */
export const openRewriter =
  (transact: Transact, dialect: Dialect) =>
  async (resource: Resource, faults: readonly DerivedFault[]): Promise<void> => {
    if (faults.length === 0) return
    await transact(async (session) => {
      const ids = new Set(faults.map(({ customerId }) => customerId))
      await session.rows(lockCustomers(dialect, [...ids]))
      for (const statement of rewriting(resource, dialect, faults)) await session.rows(statement)
    })
  }

function rewriting(
  resource: Resource,
  dialect: Dialect,
  faults: readonly DerivedFault[],
): readonly Statement[] {
  const { list, unnest, tableName, boolean, bytes: fromHex } = dialect
  const unclaimed = faults.flatMap((one) => (one.fault === 'unclaimed' ? [one] : []))
  const withoutTerms = faults.flatMap((one) => (one.fault === 'terms missing' ? [one] : []))
  const leftOver = faults.flatMap((one) => (one.fault === 'a term left over' ? [one.term] : []))
  const claims = letGoList(dialect, unclaimed)
  const lacking = unnest('lacking', { owner: 'text[]', place: 'text[]' })
  const hexOf = (position: Uint8Array) => Buffer.from(position).toString('hex')
  const given = { text: passOn(resource, dialect, claims.from), values: claims.values }
  if (resource.terms === undefined) return [given]
  return [
    given,
    {
      text: addTerms(dialect, {
        from: `${lacking} cross join ${tableName(resource.table)} as record`,
        where: `record.customer = cast(lacking.owner as integer)
          and record.deleted in (${boolean(false)}, ${boolean(true)})
          and record.position = ${fromHex('lacking.place')} and ${isCurrent(resource, 'record')}`,
        row: 'record',
      }),
      values: [
        list(withoutTerms.map(({ customer }) => String(customer))),
        list(withoutTerms.map(({ position }) => hexOf(position))),
      ],
    },
    {
      text: removeTermRows(dialect, isStray(resource, dialect)),
      values: [
        list(leftOver.map(({ term }) => term)),
        list(leftOver.map(({ scope }) => String(scope))),
        list(leftOver.map(({ sort }) => sort)),
        list(leftOver.map(({ position }) => hexOf(position))),
      ],
    },
  ]
}
