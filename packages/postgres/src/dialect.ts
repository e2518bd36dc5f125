import { type Dialect, POSITION_BYTES } from '@bursar/records'
import { textArray } from './driver/connection.ts'

const setting = (name: string): string => `nullif(current_setting('bursar.${name}', true), '')`

/** The customer that a statement names. */
const namedIn = {
  customer: `${setting('customer')}::integer`,
  customer_id: setting('customer_id'),
  id: setting('customer_id'),
} as const

/**
 * Text has collation C and the position is bytea, because their comparisons are leakproof:
 * PostgreSQL can use indexes for them under row-level security. Indexes across customers are
 * partial, with a condition that only imports repeat. A customer's request never uses one, so its
 * timing tells nothing about other customers.
 */
export const dialect: Dialect = {
  tableName: (table) => `bursar.${table}`,
  auditTable: (table) => `bursar_audit.${table}`,
  auditSchema: 'create schema bursar_audit;',
  // The planner finds the index, because each is for one column and has its condition.
  indexedBy: () => '',
  parameter: (number, type) => `$${number}::${type}`,
  list: (values) => textArray(values.map(String)),
  isAnyOf: (expression, list) => `${expression} = any(${list})`,
  entriesOf: (list) => `unnest(${list}) as entry (value)`,
  forEach: (list, _count, query) => `
        select branch.* from ${dialect.entriesOf(list)}
        cross join lateral (${query('entry.value')}) as branch`,
  // Without the fence the planner may read a whole table of few rows, and keep to that as it grows.
  forEachRow: (table, from, where) =>
    `${table} cross join lateral (select * from ${from} where ${where} offset 0) as record`,
  boolean: String,
  hasTypes: (columns) =>
    Object.keys(columns)
      .map((column) => `${column} is not null`)
      .join(' and '),
  jsonMember: (column, member) => `(${column}::json ->> '${member}')`,
  jsonEntries: (expression) => `json_array_elements(${expression}::json) as entry (value)`,
  jsonTexts: (column, member, name) =>
    `json_array_elements_text(${column}::json -> '${member}') as ${name} (value)`,
  longText: (expression) => expression,
  hex: (expression) => `encode(${expression}, 'hex')`,
  bytes: (expression) => `decode(${expression}, 'hex')`,
  joined: (expression, separator) => `string_agg((${expression})::text, '${separator}')`,
  lastPositions: `encode(
        substring(string_agg(position, '') from (count(*)::int - 2) * ${POSITION_BYTES} + 1), 'hex')`,
  bounded: (query, page) => `
      select * from (${query}
      ${page}) as bounded`,
  listedId: {
    columns: ['id'],
    of: (row) => `${row}.id`,
    key: (row) => `${row}.id`,
    is: (row, id) => `${row}.id = ${id}`,
    isAnyOf: (row, list) => `${row}.id = any(${list})`,
  },
  rowName: 'ctid',
  pastRow: 'past.row_id',
  joinPast: (kind, at) => `
          left join lateral (
            select ctid as row_id, body, checksum, masked, masked_checksum, stored_at, deleted_at
            from bursar.history as earlier
            where record.stored_at > ${at} and earlier.customer = record.customer
              and earlier.kind = '${kind}' and earlier.id = record.id
              and earlier.stored_at <= ${at}
            order by earlier.stored_at desc limit 1) as past on true`,
  keys: {
    from: 'unnest($1::text[], $2::uuid[]) as key (customer_id, id)',
    values: (keys) => [
      textArray(keys.map(({ customerId }) => customerId)),
      textArray(keys.map(({ id }) => id)),
    ],
  },
  // A join, which the planner hashes, and leaves out of statements that need no number.
  numbered: (table) => `
    select line.*, owner.number as customer
    from ${table} as line left join bursar.customer as owner on owner.id = line.customer_id`,
  unnest: (name, columns) => {
    const lists = Object.values(columns).map((type, at) => `$${at + 1}::${type}`)
    return `unnest(${lists.join(', ')}) as ${name} (${Object.keys(columns).join(', ')})`
  },
  forUpdate: (locked) => (locked === 'skip' ? 'for update skip locked' : 'for update'),
  isReplica: 'pg_is_in_recovery()',
  now: 'bursar.clock_microseconds()',
  transactions: {
    // The end of a snapshot follows the last one that has ended, so one that runs may be above it.
    newest: 'select pg_current_xact_id()::text as newest',
    haveEnded: `select 1 where pg_snapshot_xmin(pg_current_snapshot())::text::numeric >= $1::text::numeric`,
  },
  random: '(random() * 9007199254740991)::bigint',
  isImportLockHeld: (number) => `${number} in (
      select (classid::bigint << 32) | objid::bigint from pg_locks
      where locktype = 'advisory' and objsubid = 1
        and database = (select oid from pg_database where datname = current_database()))`,
  // PostgreSQL 15 has no minimum of bytea.
  lowest: `decode(min(encode(position, 'hex') collate "C"), 'hex')`,
  highest: `decode(max(encode(position, 'hex') collate "C"), 'hex')`,
  types: {
    key: 'text collate "C"',
    boolean: 'boolean',
    position: 'bytea',
    id: 'uuid',
    integer: 'bigint',
    small: 'smallint',
    storedAt: 'bigint not null check (stored_at >= 0)',
    sequence: 'bigint generated always as identity primary key',
    customerSequence: 'integer generated always as identity primary key',
    customer: 'integer',
    secret: 'bytea not null default uuid_send(gen_random_uuid())',
    rowNumber: 'bigint',
  },
  tableOptions: '',
  rowTableOptions: '',
  // An index on the id alone would find the rows of other customers, and take longer then.
  identifying: (table) => `
create unique index ${table}_identity on bursar.${table} (id)${dialect.acrossCustomers('id_taken = false')};
create unique index ${table}_by_id on bursar.${table} (customer, id);`,
  acrossCustomers: (condition) => ` where stored_at >= 0 and ${condition}`,
  /**
   * Row-level security: a statement that names no customer sees no rows. An empty text, which a
   * setting of an ended transaction leaves, names none. FORCE applies the policy to the owner too.
   */
  protect: (table, column) => `
alter table bursar.${table} enable row level security;
alter table bursar.${table} force row level security;
create policy customer on bursar.${table}
  using (${column} = ${namedIn[column]});`,
}
