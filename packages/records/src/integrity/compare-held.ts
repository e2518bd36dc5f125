import type { Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { type NamedRow, text, whole } from '../row.ts'
import { customerId } from '../schema/customers.ts'
import { heldMembers, isHadByHolder, selectValues } from '../schema/held-values.ts'
import { heldTable } from '../schema/tables.ts'
import type { Reads } from '../session.ts'

/** A value of a record that nobody holds, or one that its holder holds without a record. */
export type HeldFault = {
  readonly fault: 'not held' | 'without a record'
  readonly kind: string
  readonly member: string
  readonly customerId: string
}

/** Compares the records with who holds their values, a bounded part at a time. */
export async function* compareHeld(
  { rows }: Reads,
  dialect: Dialect,
  resources: readonly Resource[],
): AsyncIterable<readonly HeldFault[]> {
  const { customers, notHeld, end, withoutRecord } = compareStatements(dialect)
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const found: readonly NamedRow[] = await rows({ text: customers, values: [after] })
    for (const { number } of found) {
      for (const resource of resources) {
        const values = [number as bigint]
        yield (await rows({ text: notHeld(resource), values })).map(readFault('not held', resource))
      }
    }
    const last = found.at(-1)
    after = last && whole(last, 'number')
  }
  for (let after: string | undefined = ''; after !== undefined; ) {
    const [last]: readonly NamedRow[] = await rows({ text: end, values: [after] })
    const until: string | undefined = last && text(last, 'value')
    for (const resource of resources) {
      const values = until === undefined ? [after] : [after, until]
      const asked = { text: withoutRecord(resource, until !== undefined), values }
      yield (await rows(asked)).map(readFault('without a record', resource))
    }
    after = until
  }
}

function compareStatements(dialect: Dialect) {
  const { tableName, parameter } = dialect
  const held = `${tableName(heldTable)} as held`
  const [first, second] = [parameter(1, 'text'), parameter(2, 'text')]
  return {
    customers: `select number from ${tableName('customer')}
      where number > ${parameter(1, 'bigint')} order by number limit ${recordsLimits.comparedCustomers}`,
    /** Of a customer, among so many of its records. */
    notHeld: (resource: Resource) => {
      const own = `(select * from ${tableName(resource.table)}
        where customer = ${parameter(1, 'integer')} limit ${recordsLimits.comparedRecordsMax}) as stored`
      const values = selectValues(heldMembers(resource, dialect, 'stored'), {
        from: own,
        where: 'true',
        columns: ['stored.customer'],
      })
      return `
      select brought.member, ${customerId(dialect, 'brought.customer')} as customer_id
      from (${values}) as brought left join ${held} on held.value = brought.value
        and held.kind = '${resource.kind}' and held.member = brought.member
      where held.value is null limit ${recordsLimits.faultsReportedMax}`
    },
    /** Where so many held values after one end. */
    end: `select value from ${held} where value > ${first}
      order by value limit 1 offset ${recordsLimits.valuesComparedTogether - 1}`,
    withoutRecord: (resource: Resource, isBounded: boolean) => `
      select held.member, ${customerId(dialect, 'held.customer')} as customer_id from ${held}
      where held.value > ${first} ${isBounded ? `and held.value <= ${second}` : ''}
        and held.kind = '${resource.kind}' and not ${isHadByHolder(resource, dialect)}
      limit ${recordsLimits.faultsReportedMax}`,
  }
}

const readFault =
  (fault: HeldFault['fault'], { kind }: Resource) =>
  (row: NamedRow): HeldFault => ({
    fault,
    kind,
    member: text(row, 'member'),
    customerId: text(row, 'customer_id'),
  })
