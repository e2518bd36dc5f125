import type { Resource } from '../../../contract/resource.ts'
import type { Dialect } from '../../dialect.ts'

/** Where a version of a record came from: a row of table `origin`, and the line of its file. */
const originMembers = ['origin', 'origin_line'] as const

/** The same for a stored record, and a digest of the line that it was imported from. */
export const sourceMembers = [...originMembers, 'source_digest'] as const

/** Columns whose changes are noted, because an old page is filtered by their old values. */
export const filterColumns = ({ columns }: Resource): readonly string[] => [
  'ref_id',
  ...Object.values<string>(columns),
]

/** Columns by which the operator finds a record of any customer, besides those that are unique. */
export const searchedColumns = ({ columns }: Resource): readonly string[] => [
  'ref_id',
  ...Object.values<string>(columns).filter((column) => column.endsWith('_id') && column !== MEMO),
]

const MEMO = 'memo_id'

/**
 * Adds the origin to every version, the indexes of the operator's search, and the tables by which
 * an old page is found. For what was stored before, it notes bounds that exclude nothing.
 */
export function addHistory(
  resources: readonly Resource[],
  dialect: Dialect,
  laterColumnsOf: (kind: string) => readonly string[],
): string {
  const { types, tableName, tableOptions, protect, unprotected } = dialect
  const added = (table: string, columns: readonly string[]) =>
    columns.map(
      (column) => `alter table ${tableName(table)} add column ${column} ${types.integer};`,
    )
  const altered = [
    ...resources.flatMap(({ table }) => added(table, sourceMembers)),
    ...added('superseded', originMembers),
  ]
  const kinds = resources.map((resource) =>
    createSearchIndexes(resource, dialect, laterColumnsOf(resource.kind)),
  )
  const masked = resources
    .filter(({ mask }) => mask !== undefined && dialect.fillMasks !== undefined)
    .map(({ kind }) => `${dialect.fillMasks} where kind = '${kind}'`)
  const backfilled = resources.flatMap((resource) => [
    `insert into ${tableName('kept_since')}
      select customer_id, '${resource.kind}', min(stored_at) from (
        select customer_id, stored_at from ${tableName(resource.table)}
        union all
        select customer_id, stored_at from ${tableName('superseded')} where kind = '${resource.kind}'
      ) as stored group by customer_id`,
    `insert into ${tableName('extent')}
      select distinct customer_id, '${resource.kind}', 0, ${dialect.anyPosition}
      from ${tableName(resource.table)}`,
    ...filterColumns(resource)
      .filter((column) => !laterColumnsOf(resource.kind).includes(column))
      .map((column) => noteFormerValues(resource, column, dialect)),
  ])
  return `
${altered.join('\n')}
-- What the customer's list showed of the version, for kinds with a mask.
alter table ${tableName('superseded')} add column masked text;
alter table ${tableName('superseded')} add column masked_checksum ${types.integer};
${kinds.join('')}
-- Who stored a version: a client over HTTP, or a command with its file.
create table ${tableName('origin')} (
  id ${types.sequence},
  command text not null,
  client_id ${types.key},
  file text,
  os_user text
);
create unique index origin_by_client on ${tableName('origin')} (client_id, command)
  where client_id is not null;

-- The values that a record no longer has, and when it last had each.
create table ${tableName('former_value')} (
  customer_id ${types.key} not null,
  kind ${types.key} not null,
  member ${types.key} not null,
  value ${types.key} not null,
  position ${types.position} not null,
  until ${types.integer} not null,
  primary key (customer_id, kind, member, value, position)
)${tableOptions};
${protect('former_value')}

-- The first and the last position of a customer's records, from the time that they were reached.
create table ${tableName('extent')} (
  customer_id ${types.key} not null,
  kind ${types.key} not null,
  changed_at ${types.integer} not null,
  low ${types.position} not null,
  high ${types.position} not null,
  primary key (customer_id, kind, changed_at)
)${tableOptions};
${protect('extent')}

-- What was answered to a request with an idempotency key.
create table ${tableName('kept_answer')} (
  client_id ${types.key} not null,
  key ${types.key} not null,
  fingerprint text not null,
  answer text not null,
  kept_at ${types.integer} not null,
  primary key (client_id, key)
)${tableOptions};
-- From when on a customer's records of a kind are known: since the first of them was stored, or
-- since the time before which versions were pruned. What was before is unknown.
create table ${tableName('kept_since')} (
  customer_id ${types.key} not null,
  kind ${types.key} not null,
  at ${types.integer} not null,
  primary key (customer_id, kind)
)${tableOptions};
${protect('kept_since')}
create index kept_answer_by_time on ${tableName('kept_answer')} (kept_at);
${unprotected([...resources.map(({ table }) => table), 'superseded', 'former_value', 'extent', 'kept_since'], [...masked, ...backfilled].join(';\n'))};
`
}

/**
 * Indexes across customers for the operator's search, by which support finds a record without its
 * customer. On PostgreSQL they are partial, with a condition that only the operator's statements
 * repeat, so no request of a customer can use one. Looking into the index of each customer would
 * cost more with every customer; one table of all terms would need a row for each term and record.
 */
export function createSearchIndexes(
  resource: Resource,
  { tableName, acrossCustomers }: Dialect,
  laterColumns: readonly string[] = [],
): string {
  const { table } = resource
  return searchedColumns(resource)
    .filter((column) => !laterColumns.includes(column))
    .map(
      (column) =>
        `create index ${searchIndex(table, column)} on ${tableName(table)} (${column}, id)${acrossCustomers(`${column} is not null`)};\n`,
    )
    .join('')
}

export const searchIndex = (table: string, column: string): string => `${table}_search_${column}`

/** One row for each value that a record has had in any replaced version. */
const noteFormerValues = (
  { kind, table }: Resource,
  column: string,
  { tableName, bodyMember }: Dialect,
): string => `insert into ${tableName('former_value')}
      select customer_id, '${kind}', '${column}', value, position, max(replaced_at) from (
        select stored.customer_id, ${bodyMember(column)} as value, record.position, stored.replaced_at
        from ${tableName('superseded')} as stored join ${tableName(table)} as record
          on record.customer_id = stored.customer_id and record.id = stored.id
        where stored.kind = '${kind}'
      ) as former
      where value is not null group by customer_id, value, position`
