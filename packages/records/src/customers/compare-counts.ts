import { resources } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { CustomerRegister } from '../records/customer-entries.ts'
import { type NamedRow, text, whole } from '../row.ts'
import { lockCustomers } from '../schema/customers.ts'
import type { Reads, Transact } from '../session.ts'

/**
 * Compares the counts that the store keeps with the records. A count and its records are read by
 * one statement, of one moment.
 */
export function openCountComparison(
  { rows, transact }: Reads & { readonly transact: Transact },
  dialect: Dialect,
): Pick<CustomerRegister, 'countDeleted' | 'recount'> {
  const statements = countStatements(dialect)
  const compare = async (session: Reads, customerId: string) => {
    const values = [customerId]
    const found = await Promise.all(
      statements.kinds.map(({ compared }) => session.rows({ text: compared, values })),
    )
    return found
      .flat()
      .map(readCount)
      .filter(({ kept, counted }) => kept !== counted)
  }
  return {
    countDeleted: async (customerIds) => {
      const values = [dialect.list(customerIds)]
      const found = await Promise.all(
        statements.kinds.map(({ deleted }) => rows({ text: deleted, values })),
      )
      return found.flat().map((row) => ({
        customerId: text(row, 'id'),
        kind: text(row, 'kind'),
        counted: Number(whole(row, 'counted')),
      }))
    },
    recount: async (customerId, corrects) => {
      const seen = await compare({ rows }, customerId)
      if (!corrects || seen.length === 0) return seen
      return await transact(async (session) => {
        // A merge waits for it, so nothing is stored while the records are counted.
        await session.rows(lockCustomers(dialect, [customerId]))
        const wrong = await compare(session, customerId)
        for (const { kind, counted } of wrong) {
          await session.rows({ text: statements.correct, values: [customerId, counted, kind] })
        }
        return wrong
      })
    },
  }
}

function countStatements({ tableName, parameter, isAnyOf }: Dialect) {
  const [customer, revision] = [tableName('customer'), tableName('revision')]
  const first = parameter(1, 'text')
  const kinds = resources.map(({ kind, table }) => ({
    compared: `
      select owner.id, '${kind}' as kind, coalesce(known.live, 0) as kept, (
        select count(*) from ${tableName(table)} as record
        where record.customer = owner.number and record.deleted = false) as counted
      from ${customer} as owner
      left join ${revision} as known on known.customer = owner.number and known.kind = '${kind}'
      where owner.id = ${first}`,
    deleted: `
      select owner.id, '${kind}' as kind, (
        select count(*) from ${tableName(table)} as record
        where record.customer = owner.number and record.deleted = true) as counted
      from ${customer} as owner where ${isAnyOf('owner.id', parameter(1, 'text[]'))}`,
  }))
  return {
    kinds,
    correct: `update ${revision} set live = ${parameter(2, 'bigint')}
      where customer = (select number from ${customer} where id = ${first})
        and kind = ${parameter(3, 'text')}`,
  }
}

const readCount = (row: NamedRow) => ({
  customerId: text(row, 'id'),
  kind: text(row, 'kind'),
  kept: Number(whole(row, 'kept')),
  counted: Number(whole(row, 'counted')),
})
