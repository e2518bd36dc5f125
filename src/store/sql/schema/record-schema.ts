import { fullTable, type Resource } from '../../../contract/resource.ts'
import type { Dialect } from '../../dialect.ts'
import { memberColumns } from '../staging.ts'
import { createSearchIndexes, sourceMembers } from './history-schema.ts'

/** The dialect, and what the tables have at the step that asks. */
type SchemaAt = Dialect & { readonly hasChecksums: boolean; readonly hasHistory?: boolean }

/**
 * Creates the tables of one kind. The primary key is the order of a page. Every index that serves a
 * customer starts with the customer; `_identity` guards what is unique across customers. A record
 * of a kind without deletions is `deleted` once it is withdrawn: it keeps its row and its id, but
 * no other unique value. It has lost its id too where `id_taken` says so.
 */
export function createTables(
  resource: Resource,
  laterColumns: readonly string[],
  dialect: SchemaAt,
): string {
  const { table, exclusive } = resource
  const { types, tableName, tableOptions, acrossCustomers, protect } = dialect
  const members = memberColumns(resource).filter((column) => !laterColumns.includes(column))
  const filters = Object.values<string>(resource.columns).filter((name) => members.includes(name))
  const optional = members.filter((column) => !isRequired(resource, column))
  const name = tableName(table)
  return `
create table ${name} (
  customer_id ${types.key} not null,
  deleted ${types.boolean} not null,
  position ${types.position} not null,
  id ${types.id} not null,
  ${members.map((column) => `${column} ${types.key}${optional.includes(column) ? '' : ' not null'},`).join('\n  ')}
  body text not null,
  deleted_at ${types.integer},
  updated_at ${types.integer},
  source_version ${types.integer},
  stored_at ${types.storedAt},
  id_taken ${types.boolean} not null default false,${checksumColumn(dialect)}${originColumns(dialect)}
  primary key (customer_id, deleted, position)
)${tableOptions};
create unique index ${table}_identity on ${name} (id)${acrossCustomers('id_taken = false')};
create unique index ${table}_by_id on ${name} (customer_id, id);
create unique index ${table}_by_ref_id on ${name} (customer_id, ref_id) where ref_id is not null;
${filters.map((column) => createIndexes(resource, column, optional.includes(column), dialect)).join('')}
${exclusive === undefined ? '' : `create index ${table}_exclusive_key on ${name} (exclusive_key, id);`}
${dialect.hasHistory === true ? createSearchIndexes(resource, dialect, laterColumns) : ''}${protect(table)}
${resource.mask === undefined ? '' : createFullTable(fullTable(resource), dialect)}`
}

/** Lists do not read this table of unmasked records, so they cannot leak one. */
const createFullTable = (
  table: string,
  { types, tableName, tableOptions, protect, hasChecksums }: SchemaAt,
): string => `
create table ${tableName(table)} (
  customer_id ${types.key} not null,
  id ${types.id} not null,
  deleted ${types.boolean} not null,
  body text not null,${checksumColumn({ types, hasChecksums })}
  primary key (customer_id, id)
)${tableOptions};
${protect(table)}`

const checksumColumn = ({ types, hasChecksums }: Pick<SchemaAt, 'types' | 'hasChecksums'>) =>
  hasChecksums ? `\n  checksum ${types.integer},` : ''

const originColumns = ({ types, hasHistory }: Pick<SchemaAt, 'types' | 'hasHistory'>) =>
  hasHistory === true
    ? sourceMembers.map((column) => `\n  ${column} ${types.integer},`).join('')
    : ''

/** Adds a filter column to a kind that has been released, and fills it from the stored records. */
export function addColumn(resource: Resource, column: string, dialect: Dialect): string {
  const { types, tableName, bodyMember, unprotected } = dialect
  const [table, full] = [resource.table, fullTable(resource)]
  return `
alter table ${tableName(table)} add column ${column} ${types.key};
${unprotected(
  [...new Set([table, full])],
  `update ${tableName(table)} as record set ${column} = (
  select ${bodyMember(column)} from ${tableName(full)} as stored
  where stored.customer_id = record.customer_id and stored.id = record.id)`,
)};
${createIndexes(resource, column, true, dialect)}`
}

/** Adds the checksum of the body to a table and, where SQL can compute it, fills it. */
export function addChecksum(
  table: string,
  { types, tableName, checksumOf }: Pick<Dialect, 'types' | 'tableName' | 'checksumOf'>,
): string {
  const checksum = checksumOf('body')
  const fill = checksum === 'null' ? '' : `update ${tableName(table)} set checksum = ${checksum};`
  return `\nalter table ${tableName(table)} add column checksum ${types.integer};\n${fill}`
}

/** Replaced records from before have no checksum. Nobody could tell whether it would be right. */
export const addHistoryChecksum = ({ types, tableName }: Dialect): string =>
  `\nalter table ${tableName('superseded')} add column checksum ${types.integer};\n`

/**
 * Replaces text in the bodies of a kind, in both of its views. It raises the revisions of the kind:
 * the bodies change, so a client's entity tag of an old page must not match.
 */
export function replaceInBodies(
  resource: Resource,
  replacements: readonly (readonly [string, string])[],
  { tableName, unprotected, checksumOf, hasChecksums }: SchemaAt,
): string {
  const tables = [...new Set([resource.table, fullTable(resource)])]
  const found = replacements.map(([text]) => `body like '%${text}%'`).join(' or ')
  const replaced = replacements.reduce(
    (body, [text, replacement]) => `replace(${body}, '${text}', '${replacement}')`,
    'body',
  )
  const checksum = hasChecksums ? `, checksum = ${checksumOf(replaced)}` : ''
  const statements = [
    ...tables.map(
      (table) => `update ${tableName(table)} set body = ${replaced}${checksum} where ${found}`,
    ),
    `update ${tableName('revision')} set changed_at = changed_at + 1 where kind = '${resource.kind}'`,
  ]
  return `\n${unprotected([...tables, 'revision'], statements.join(';\n'))};\n`
}

function createIndexes(
  { table, uniqueMembers }: Resource,
  column: string,
  isOptional: boolean,
  { tableName, acrossCustomers }: Dialect,
): string {
  const present = isOptional ? ` where ${column} is not null` : ''
  const unique = `create unique index ${table}_${column}_identity on ${tableName(table)} (${column})${acrossCustomers('deleted = false')};\n`
  return `create index ${table}_by_${column} on ${tableName(table)} (customer_id, ${column}, deleted, position)${present};
${uniqueMembers.includes(column) ? unique : ''}`
}

/** Whether every record has the member, so that its column is never null. */
const isRequired = ({ record }: Resource, column: string): boolean =>
  column === 'exclusive_key' || (record.required ?? []).includes(column)
