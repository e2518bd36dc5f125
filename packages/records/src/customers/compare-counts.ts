import { resources } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import type { CustomerRegister, WrongCount } from '../records/customer-entries.ts'
import { type NamedRow, text, whole } from '../row.ts'
import type { Reads } from '../session.ts'

/**
 * Compares the counts that the store keeps with the records. A count and its records are read by
 * one statement, of one moment.
 */
export function openCountComparison(
  { rows }: Reads,
  dialect: Dialect,
): Pick<CustomerRegister, 'compareCounts' | 'countDeleted' | 'recount'> {
  const statements = countStatements(dialect)
  const compare = async (customer: bigint, recordsMax: number) => {
    const found: readonly NamedRow[][] = await Promise.all(
      statements.kinds.map(async ({ compared }) => [
        ...(await rows({ text: compared, values: [customer, recordsMax] })),
      ]),
    )
    return found.flat().map(readCount)
  }
  return {
    compareCounts: async (after = 0n, recordsMax) => {
      const customersMax = recordsLimits.comparedCustomers
      const found = await rows({ text: statements.next, values: [after, customersMax] })
      const wrong: WrongCount[] = []
      let uncompared = 0
      for (const row of found) {
        for (const count of await compare(whole(row, 'number'), recordsMax)) {
          const isBeyond = count.counted >= recordsMax && count.kept >= recordsMax
          if (isBeyond) uncompared += 1
          else if (count.counted !== count.kept) wrong.push(count)
        }
      }
      const last = found.length === customersMax ? found.at(-1) : undefined
      return { wrong, uncompared, next: last && whole(last, 'number') }
    },
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
    recount: async (customerId) => {
      const [owner] = await rows({ text: statements.find, values: [customerId] })
      if (owner === undefined) return []
      const customer = whole(owner, 'number')
      const counts = await compare(customer, Number.MAX_SAFE_INTEGER)
      const wrong = counts.filter(({ kept, counted }) => kept !== counted)
      for (const { kind, kept, counted } of wrong) {
        // A merge since then has changed both alike, so the difference is what it was.
        await rows({ text: statements.correct, values: [customer, counted - kept, kind] })
      }
      return wrong
    },
  }
}

function countStatements({ tableName, parameter, isAnyOf }: Dialect) {
  const [customer, revision] = [tableName('customer'), tableName('revision')]
  const [first, second] = [parameter(1, 'integer'), parameter(2, 'bigint')]
  const kinds = resources.map(({ kind, table }) => ({
    compared: `
      select owner.id, '${kind}' as kind, coalesce(known.live, 0) as kept, (
        select count(*) from (select 1 from ${tableName(table)} as record
          where record.customer = owner.number and record.deleted = false limit ${second}
        ) as bounded) as counted
      from ${customer} as owner
      left join ${revision} as known on known.customer = owner.number and known.kind = '${kind}'
      where owner.number = ${first}`,
    deleted: `
      select owner.id, '${kind}' as kind, (
        select count(*) from ${tableName(table)} as record
        where record.customer = owner.number and record.deleted = true) as counted
      from ${customer} as owner where ${isAnyOf('owner.id', parameter(1, 'text[]'))}`,
  }))
  return {
    kinds,
    find: `select number from ${customer} where id = ${parameter(1, 'text')}`,
    next: `select number from ${customer} where number > ${parameter(1, 'bigint')}
      order by number limit ${second}`,
    correct: `update ${revision} set live = live + ${second}
      where customer = ${first} and kind = ${parameter(3, 'text')}`,
  }
}

const readCount = (row: NamedRow): WrongCount => ({
  customerId: text(row, 'id'),
  kind: text(row, 'kind'),
  kept: Number(whole(row, 'kept')),
  counted: Number(whole(row, 'counted')),
})
