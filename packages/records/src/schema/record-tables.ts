import { fullTable, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { isKeyedInClear } from '../integrity/checksum.ts'
import { hasHiddenStatus, memberColumns, searchedColumns } from './tables.ts'

/**
 * Creates the tables of one kind. Columns of one width come first, which saves PostgreSQL the bytes
 * that align them. The primary key is the order of a page. An index that serves a
 * customer starts with the customer, or with an identifier and then the customer: so the operator's
 * search uses it too. `_identity` guards what is unique across customers, and the condition of
 * `_by_change` holds always: it keeps the planner from looking a record up by its customer alone.
 * A record of a kind without deletions is `deleted` once it is withdrawn: it keeps its row and its
 * id, but no other unique value. It has lost its id too where `id_taken` says so.
 */
export function createKind(resource: Resource, dialect: Dialect): string {
  const { table, exclusive, mask } = resource
  const { types, tableName, tableOptions, listedId, identifying, protect } = dialect
  const members = memberColumns(resource)
  const presence = (column: string) => (isRequired(resource, column) ? ' not null' : '')
  const filters = [
    ...Object.values<string>(resource.columns).filter((name) => members.includes(name)),
    ...(hasHiddenStatus(resource) ? ['status'] : []),
  ]
  const name = tableName(table)
  return `
create table ${name} (
  stored_at ${types.storedAt},
  -- The place of the version in the order of all versions of its customer, of every kind.
  change ${types.integer} not null,
  checksum ${types.integer} not null,
  ${isKeyedInClear(resource) ? versionMark(types) : ''}
  deleted_at ${types.integer},
  updated_at ${types.integer},
  source_version ${types.integer},
  -- Where the record came from: a row of table origin, and the line of its file.
  origin ${types.integer},
  origin_line ${types.integer},
  customer ${types.customer} not null,
  deleted ${types.boolean} not null,
  id_taken ${types.boolean} not null default false,
  -- What the version did to the record of its customer: see store/records/event-actions.ts.
  event ${types.small} not null,
  ${listedId.columns.map((column) => `${column} ${types.id} not null,`).join('')}
  position ${types.position} not null,
  ${members.map((column) => `${column} ${types.key}${presence(column)},`).join('\n  ')}
  body text not null,
  primary key (customer, deleted, position)
)${tableOptions};
${identifying(table)}
create index ${table}_by_change on ${name} (customer, change, event) where change > 0;
create unique index ${table}_by_ref_id on ${name} (ref_id, customer) where ref_id is not null;
${filters.map((column) => createFilterIndexes(resource, column, isRequired(resource, column), dialect)).join('')}
${exclusive === undefined ? '' : createFilterIndexes(resource, 'exclusive_key', true, dialect)}
${protect(table, 'customer')}
${createOrderOfAll(resource, dialect)}
${mask === undefined ? '' : createFullTable(fullTable(resource), dialect)}`
}

/** Names the version of a kind whose checksums take a key. It is random, and is never renewed. */
const versionMark = ({ integer }: Dialect['types']) => `version_mark ${integer} not null,`

/** The order of the live records of all customers, of each status. */
const createOrderOfAll = (
  { table, statuses }: Resource,
  { tableName, acrossCustomers }: Dialect,
): string => `create index ${table}_of_all on ${tableName(table)}
  (${statuses.length > 0 ? 'status, ' : ''}position)${acrossCustomers('deleted = false')};`

/** Lists do not read this table of unmasked records, so they cannot leak one. */
const createFullTable = (
  table: string,
  { types, tableName, tableOptions, protect }: Dialect,
): string => `
create table ${tableName(table)} (
  checksum ${types.integer} not null,
  ${versionMark(types)}
  customer ${types.customer} not null,
  deleted ${types.boolean} not null,
  id ${types.id} not null,
  body text not null,
  primary key (customer, id)
)${tableOptions};
${protect(table, 'customer')}`

/** The indexes of a filter column. */
function createFilterIndexes(
  resource: Resource,
  column: string,
  isAlways: boolean,
  { tableName, acrossCustomers }: Dialect,
): string {
  const { table, uniqueMembers } = resource
  const present = isAlways ? '' : ` where ${column} is not null`
  const unique = `create unique index ${table}_${column}_identity on ${tableName(table)} (${column})${acrossCustomers('deleted = false')};\n`
  const isSearched = column === 'exclusive_key' || searchedColumns(resource).includes(column)
  const leading = isSearched ? `${column}, customer` : `customer, ${column}`
  return `create index ${table}_by_${column} on ${tableName(table)} (${leading}, deleted, position)${present};
${uniqueMembers.includes(column) ? unique : ''}`
}

/** Whether every record has the member, so that its column is never null. */
const isRequired = ({ record }: Resource, column: string): boolean =>
  column === 'exclusive_key' || (record.required ?? []).includes(column)
