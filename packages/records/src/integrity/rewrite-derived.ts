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
  const miscounted = faults.filter(({ fault }) => fault === 'miscounted')
  const always = [
    { text: passOn(resource, dialect, claims.from), values: claims.values },
    {
      text: countAgain(resource, dialect),
      values: [list(miscounted.map(({ customer }) => String(customer)))],
    },
  ]
  if (resource.terms === undefined) return always
  return [
    ...always,
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

/** Counts the live records of some customers, of which one may have lost its row. */
const countAgain = (
  { kind, table }: Resource,
  { tableName, parameter, isAnyOf, boolean, random }: Dialect,
): string => `
  insert into ${tableName('revision')} as known (customer, kind, changed_at, salt, live)
  select owner.number, '${kind}', (select coalesce(max(changed_at), 0) from ${tableName('revision')}),
    ${random}, (select count(*) from ${tableName(table)} as record
      where record.customer = owner.number and record.deleted = ${boolean(false)})
  from ${tableName('customer')} as owner
  where ${isAnyOf('owner.number', parameter(1, 'bigint[]'))}
  on conflict (customer, kind) do update set live = excluded.live`
