import { largest, smallest, systemTime, turn } from '@bursar/base'
import { contractLimits, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { positionMicros } from '../position.ts'
import type { AcrossPlace, Counted, Counting } from '../records/across.ts'
import { bytes, type NamedRow, text, whole } from '../row.ts'
import type { Reads } from '../session.ts'
import { placesInOrder } from './places.ts'

type Asked = { readonly counting: Counting; readonly deadline: number }

/** Counts records in steps of some milliseconds, after which other requests have their turn. */
export async function countRecords(
  reads: Reads,
  dialect: Dialect,
  resource: Resource,
  { counting: { storedSince, ...selection }, deadline }: Asked,
): Promise<Counted> {
  const storedAt = storedSince === undefined ? undefined : 'stored_at'
  const rowsMax = recordsLimits.acrossRowsTogether
  const counts = new Map<bigint, number>()
  let [oldest, newest]: (bigint | undefined)[] = []
  let after: AcrossPlace | undefined
  let [count, read] = [0, 0]
  let more = true
  while (more && read < recordsLimits.attentionRowsMax && systemTime.elapsedMs() < deadline) {
    const asked = { ...selection, order: 'DESC', limit: rowsMax, after } as const
    const rows = await reads.rows(placesInOrder(resource, asked, rowsMax, dialect, storedAt))
    for (const row of rows) {
      const position = bytes(row, 'position')
      after = { position, sort: '' }
      if (storedSince !== undefined && whole(row, 'since') < storedSince) continue
      const [customer, at] = [whole(row, 'customer'), positionMicros(position)]
      counts.set(customer, (counts.get(customer) ?? 0) + 1)
      oldest = smallest(oldest ?? at, at)
      newest = largest(newest ?? at, at)
      count += 1
    }
    read += rows.length
    more = rows.length === rowsMax
    await turn()
  }
  const most = [...counts].toSorted(([, one], [, other]) => other - one)
  const named = most.slice(0, contractLimits.attentionCustomersMax)
  const ids = await customerIds(
    reads,
    dialect,
    named.map(([customer]) => customer),
  )
  const customers = named.flatMap(([customer, count]) => {
    const customerId = ids.get(customer)
    return customerId === undefined ? [] : [{ customerId, count }]
  })
  return { count, more, oldest, newest, customers }
}

async function customerIds(
  { rows }: Reads,
  { tableName, isAnyOf, parameter, list }: Dialect,
  numbers: readonly bigint[],
): Promise<ReadonlyMap<bigint, string>> {
  const isAsked = isAnyOf('number', parameter(1, 'bigint[]'))
  const found = await rows({
    text: `select number, id from ${tableName('customer')} where ${isAsked}`,
    values: [list(numbers.map(Number))],
  })
  return new Map(found.map((row: NamedRow) => [whole(row, 'number'), text(row, 'id')]))
}
