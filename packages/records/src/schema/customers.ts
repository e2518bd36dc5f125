import type { Dialect } from '../dialect.ts'
import type { Statement } from '../session.ts'

type Names = Pick<Dialect, 'tableName'>

/**
 * Creates the table of customers. Every other table of records has the number in place of the id. A
 * number is never used again. A restored backup may give it to another customer, so each statement
 * takes it from the id, and no process remembers it. `changes` counts the versions that were stored
 * for the customer, of all kinds: each has the next number in its column `change`. `event_secret`
 * hides these numbers in the ids of events. `binding` proves that the number is that of the id.
 */
export const createCustomerTable = ({ types, tableName, rowTableOptions, protect }: Dialect) => `
create table ${tableName('customer')} (
  changes ${types.integer} not null default 0,
  number ${types.customerSequence},
  id ${types.key} not null unique,
  event_secret ${types.secret},
  binding text not null default ''
)${rowTableOptions};
create index customer_by_text on ${tableName('customer')} (lower(id), number);
${protect('customer', 'id')}`

/**
 * Creates the tables of display names, for the staff's screens. A term is a name in lower case,
 * from the start of one of its words to the end, so that the start of any word finds it.
 */
export const createNameTables = ({ types, tableName, tableOptions, protect }: Dialect) => `
create table ${tableName('customer_name')} (
  customer ${types.customer} primary key,
  name text not null
)${tableOptions};
${protect('customer_name', 'customer')}
create table ${tableName('customer_term')} (
  customer ${types.customer} not null,
  place ${types.integer} not null,
  term ${types.key} not null,
  primary key (term, customer)
)${tableOptions};
create index customer_term_by_customer on ${tableName('customer_term')} (customer, place);
${protect('customer_term', 'customer')}`

/** The number of a customer, as an expression; null for one that never had a record. */
export const customerNumber = ({ tableName }: Names, id: string): string =>
  `(select number from ${tableName('customer')} where id = ${id})`

/** Selects the numbers of customers and keeps merges from them, which lock in the same order. */
export const lockCustomers = (
  { tableName, isAnyOf, parameter, list, forUpdate }: Dialect,
  ids: readonly string[],
): Statement => ({
  text: `select number from ${tableName('customer')}
    where ${isAnyOf('id', parameter(1, 'text[]'))} order by number ${forUpdate('wait')}`,
  values: [list(ids)],
})

/** The id of the customer with a number, as an expression. */
export const customerId = ({ tableName }: Names, number: string): string =>
  `(select id from ${tableName('customer')} where number = ${number})`

/** The number of a customer with its binding, as an expression over its row. */
export const ownerOf = (row: string): string =>
  `cast(${row}.number as text) || ' ' || ${row}.binding`

/** The same of the customer with a number. */
export const ownerWith = ({ tableName }: Names, number: string): string =>
  `(select ${ownerOf('owner')} from ${tableName('customer')} as owner where owner.number = ${number})`

/** Counts the staged records as versions of their customers, after they were stored. */
export const countChanges = ({ tableName }: Names): string =>
  `update ${tableName('customer')} as counted set changes = counted.changes + stored.records
       from (select customer_id, count(*) as records from staged_line group by customer_id) as stored
       where counted.id = stored.customer_id`

/** Notes that the log of changes lacks versions of the staged customers. */
export const noteDue = (names: Names): string =>
  `insert into ${names.tableName('change_state')} as state (customer)
       select number from ${names.tableName('customer')}
       where id in (select customer_id from staged_line)
       on conflict (customer) do update set is_due = true where state.is_due = false`

/** The same for one customer, by the number that is the first parameter. */
export const noteOneDue = ({ tableName, parameter }: Pick<Dialect, 'tableName' | 'parameter'>) =>
  `insert into ${tableName('change_state')} as state (customer)
       values (${parameter(1, 'integer')})
       on conflict (customer) do update set is_due = true where state.is_due = false`

/** Adds the customers of staged records, in an order in which no two merges wait for each other. */
export const addCustomers = ({ tableName }: Names): string =>
  `insert into ${tableName('customer')} (id)
   select distinct customer_id from staged where customer is null order by customer_id
   on conflict (id) do nothing returning id`
