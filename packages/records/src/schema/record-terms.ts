import type { Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { isCurrent, termTable } from './tables.ts'

/**
 * Creates the table of terms. A term has the records of one customer together, and one with an
 * order has those of all customers once more, in scope 0, which is no customer’s number. The record
 * has its terms in a column too: by that they are removed, and compared.
 */
export const createTermTable = ({ types, tableName, tableOptions, protect }: Dialect): string => `
-- What the operator finds and lists records by, over all customers. Times are microseconds, UTC.
create table ${tableName(termTable)} (
  scope ${types.customer} not null,        -- the number of the customer; 0: all customers
  customer ${types.customer} not null,
  since ${types.integer},                  -- from when the record is listed; null: always
  term ${types.key} not null,
  sort ${types.key} not null,              -- the place in the order of the term; empty: none
  position ${types.position} not null,
  primary key (term, scope, sort, position)
)${tableOptions};
${protect(termTable, 'customer')}`

type Rows = {
  /** What follows `from`, and its condition. */
  readonly from: string
  readonly where: string
  /** The row among them that has `terms`, `position` and `customer`. */
  readonly row: string
}

/** Selects the rows of the terms of records. */
const selectTerms = ({ jsonEntries }: Dialect, { from, where, row }: Rows): string => {
  const selected = (scope: string, condition: string) => `
         select entry.value ->> 0 as term, ${scope} as scope, coalesce(entry.value ->> 1, '') as sort,
           ${row}.position, ${row}.customer, cast(entry.value ->> 2 as bigint) as since
         from ${from} cross join ${jsonEntries(`${row}.terms`)}
         where ${where} ${condition}`
  return `${selected(`${row}.customer`, '')} union all ${selected('0', 'and entry.value ->> 1 is not null')}`
}

/** Stores the terms of records, in the order of the table. */
export const addTerms = (dialect: Dialect, rows: Rows): string =>
  `insert into ${dialect.tableName(termTable)} as known (term, scope, sort, position, customer, since)
       select term, scope, sort, position, customer, since
       from (${selectTerms(dialect, rows)}) as added
       where true order by term, scope, sort, position
       on conflict (term, scope, sort, position)
         do update set customer = excluded.customer, since = excluded.since`

/** Removes the terms of records. */
export const removeTerms = (dialect: Dialect, rows: Rows): string =>
  `delete from ${dialect.tableName(termTable)} where (term, scope, sort, position) in (
       select term, scope, sort, position from (${selectTerms(dialect, rows)}) as gone)`

/** Removes the rows of four lists: terms, scopes, places, and positions in hexadecimal digits. */
export function removeTermRows({ tableName, unnest, bytes }: Dialect, condition = 'true'): string {
  const lists = { term: 'text[]', scope: 'bigint[]', sort: 'text[]', place: 'text[]' } as const
  return `delete from ${tableName(termTable)} as held where (term, scope, sort, position) in (
      select term, scope, sort, ${bytes('place')} from ${unnest('gone', lists)}) and ${condition}`
}

/** Whether the terms of a staged record are stored: not those of a withdrawn one. */
export const hasTerms = ({ deletable }: Pick<Resource, 'deletable'>): string =>
  deletable ? 'staged.id_taken = 0' : 'staged.id_taken = 0 and staged.deleted_at is null'

const isStored = ({ tableName }: Dialect, scope: string, row: string): string => `exists (
        select 1 from ${tableName(termTable)} as held
        where held.term = entry.value ->> 0 and held.scope = ${scope}
          and held.sort = coalesce(entry.value ->> 1, '') and held.position = ${row}.position
          and held.customer = ${row}.customer
          and held.since is not distinct from cast(entry.value ->> 2 as bigint))`

/** Selects the rows `record` whose terms are not all stored. */
export function missingTerms(resource: Resource, dialect: Dialect, from: string): string {
  const isOwn = isStored(dialect, 'record.customer', 'record')
  const isOfAll = isStored(dialect, '0', 'record')
  return `
    select record.customer, record.position from ${from}
    where ${isCurrent(resource, 'record')} and exists (
      select 1 from ${dialect.jsonEntries('record.terms')}
      where not ${isOwn} or (entry.value ->> 1 is not null and not ${isOfAll}))`
}

/** Whether no record of a kind has the term of the row `held`. */
export function isStray(resource: Resource, { tableName, jsonEntries, boolean }: Dialect): string {
  return `not exists (
      select 1 from ${tableName(resource.table)} as record cross join ${jsonEntries('record.terms')}
      where record.customer = held.customer and record.deleted in (${boolean(false)}, ${boolean(true)})
        and record.position = held.position and ${isCurrent(resource, 'record')}
        and entry.value ->> 0 = held.term and coalesce(entry.value ->> 1, '') = held.sort
        and held.since is not distinct from cast(entry.value ->> 2 as bigint)
        and (held.scope = held.customer or (held.scope = 0 and entry.value ->> 1 is not null)))`
}
