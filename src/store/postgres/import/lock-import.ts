import type { Resource } from '../../../contract/resource.ts'
import { otherCustomers } from '../../merge/conflict-queries.ts'
import { holds, type Session } from '../../session.ts'
import { dialect } from '../dialect.ts'

const customer = dialect.tableName('customer')

/**
 * Keeps other writers from the customers of staged records, and from the others that lose a value
 * or may get one. All in one statement, in the order of their numbers, so that no two merges wait
 * in a circle.
 */
export const lockCustomers = (resource: Resource, takeOver: boolean): string => `
  select count(*) from (
    select number from ${customer} where number in (${wanted(resource, takeOver)})
    order by number for update
  ) as locked`

/**
 * Whether another writer has one of them, which another merge may have added since, or which has
 * got a value since. It waits for nobody, and locks those that are free.
 */
export const someIsLocked = (
  session: Pick<Session, 'rows'>,
  resource: Resource,
  takeOver: boolean,
): Promise<boolean> => holds(session, lockedByOthers(wanted(resource, takeOver)))

/** The same for a query of the numbers of customers. */
export const lockedByOthers = (numbers: string): string => `
  with wanted as materialized (${numbers}), locked as (
    select number from ${customer} where number in (select * from wanted)
    order by number ${dialect.forUpdate('skip')}
  )
  select (select count(*) from locked) < (select count(distinct number) from wanted as of (number)) as holds`

function wanted(resource: Resource, takeOver: boolean): string {
  const others = otherCustomers(resource, dialect, takeOver)
  return `
    select number from ${customer} where id in (select customer_id from staged_line)
    ${others === undefined ? '' : `union ${others}`}`
}
