import type { Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { letGoList, passOn } from '../schema/held-values.ts'
import { addTerms, isStray, removeTermRows } from '../schema/record-terms.ts'
import { isCurrent } from '../schema/tables.ts'
import type { Session, Statement, Transact } from '../session.ts'
import type { DerivedFault } from './derived-rows.ts'

/** `OperatorRecords.rewrite`. */
export const openRewriter =
  (transact: Transact, dialect: Dialect) =>
  async (resource: Resource, faults: readonly DerivedFault[]): Promise<void> => {
    if (faults.length === 0) return
    await transact(async (session) => {
      await lockCustomers(session, dialect, faults)
      for (const statement of rewriting(resource, dialect, faults)) await session.rows(statement)
    })
  }

async function lockCustomers(
  { rows }: Session,
  { tableName, isAnyOf, parameter, list, forUpdate }: Dialect,
  faults: readonly DerivedFault[],
): Promise<void> {
  const ids = [...new Set(faults.map(({ customerId: id }) => id))]
  await rows({
    text: `select number from ${tableName('customer')}
      where ${isAnyOf('id', parameter(1, 'text[]'))} order by number ${forUpdate('wait')}`,
    values: [list(ids)],
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
  return [
    ...(unclaimed.length === 0
      ? []
      : [{ text: passOn(resource, dialect, claims.from), values: claims.values }]),
    ...(withoutTerms.length === 0
      ? []
      : [
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
        ]),
    ...(leftOver.length === 0
      ? []
      : [
          {
            text: removeTermRows(dialect, isStray(resource, dialect)),
            values: [
              list(leftOver.map(({ term }) => term)),
              list(leftOver.map(({ scope }) => String(scope))),
              list(leftOver.map(({ sort }) => sort)),
              list(leftOver.map(({ position }) => hexOf(position))),
            ],
          },
        ]),
  ]
}
