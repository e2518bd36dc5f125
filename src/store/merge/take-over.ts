import type { Resource } from '../../contract/resource.ts'
import type { Dialect } from '../dialect.ts'
import { conflicting, heldConflicts } from './conflict-queries.ts'
import { stageStored, storedInFull } from './merge-statements.ts'

/**
 * Stages the stored records from which the staged ones take an id, an address or a memo, as they
 * are once they are withdrawn. Each has the line that takes its value, the first if there are
 * several. The parameter is the time. It returns a row for each.
 */
export function stageLosers(resource: Resource, dialect: Dialect): string {
  const taken = heldConflicts(resource).map(
    (conflict) => `
        select stored.customer_id, stored.id, staged.line, staged.file,
          ${conflict.member === 'id' ? 1 : 0} as loses_id
        from ${conflicting(resource, dialect, conflict)}`,
  )
  const staged = stageStored(resource, {
    line: 'loser.line',
    file: 'loser.file',
    deletedAt: dialect.parameter(1, 'bigint'),
    idTaken: 'case when stored.id_taken then 1 else loser.loses_id end',
    isLoser: '1',
  })
  const { tables, on } = storedInFull(resource, dialect)
  return `${staged}
      from (
        select customer_id, id, min(line) as line, min(file) as file, max(loses_id) as loses_id
        from (${taken.join(' union all ')}) as taken group by customer_id, id
      ) as loser cross join ${tables}
      where stored.customer_id = loser.customer_id and stored.id = loser.id and ${on}
      returning line`
}
