import { fullTable, isKeyedKind, type Resource, resources } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'

/** The tables of one kind: what lists show and, where that is masked, the full records. */
export const tablesOf = (resource: Resource): readonly string[] =>
  resource.mask === undefined ? [resource.table] : [resource.table, fullTable(resource)]

/** The tables that hold stored records of any kind. */
export const recordTables: readonly string[] = resources.flatMap(tablesOf)

/** The tables of what records were, and the bounds by which it is found. They have customers. */
export const historyTables: readonly string[] = [
  'history',
  'former_value',
  'extent',
  'kept_since',
  'fee_event',
  'change_log',
]

/** The tables of display names. They have customers. */
export const nameTables: readonly string[] = ['customer_name', 'customer_term']

/** The terms of the records of every customer, which only the operator's reads take. */
export const termTable = 'record_term'

/** Which customer holds which value; see store/merge/held.ts. */
export const heldTable = 'unique_claim'

/** Columns whose changes are noted, because an old page is filtered by their old values. */
export const filterColumns = ({ columns }: Resource): readonly string[] => [
  'ref_id',
  ...Object.values<string>(columns),
]

/**
 * The columns of a stored record that differ from kind to kind. The key of an exclusive member has
 * a column in place of the member, which its body has. Lists of all customers need its status, and
 * what removes the terms of a record finds them in the record.
 */
export const memberColumns = (resource: Resource): readonly string[] => {
  const { exclusive, terms } = resource
  const columns = filterColumns(resource)
  return [
    ...columns.filter((column) => column !== exclusive?.member),
    ...(exclusive === undefined ? [] : ['exclusive_key']),
    ...(hasHiddenStatus(resource) ? ['status'] : []),
    ...(terms === undefined ? [] : ['terms']),
  ]
}

/** Whether a kind has statuses by which customers do not filter. */
export const hasHiddenStatus = (resource: Resource): boolean =>
  resource.statuses.length > 0 && !filterColumns(resource).includes('status')

/** The value of a filter column of a row, as text. */
export const filterValue = (
  { exclusive }: Pick<Resource, 'exclusive'>,
  { jsonMember }: Pick<Dialect, 'jsonMember'>,
  { row, body = `${row}.body` }: { readonly row: string; readonly body?: string },
  column: string,
): string => (column === exclusive?.member ? jsonMember(body, column) : `${row}.${column}`)

/** Whether a row `stored` is the record of its id, which another customer's record may have. */
export const isLive = 'stored.stored_at >= 0 and stored.id_taken = false'

/** A row that is not of a withdrawn record. A deleted fiat account that has its id is current. */
export const isCurrent = ({ deletable }: Resource, row: string): string =>
  deletable ? `${row}.id_taken = false` : `${row}.deleted = false`

/** Columns by which the operator finds a record of any customer, besides those that are unique. */
export const searchedColumns = (resource: Resource): readonly string[] =>
  filterColumns(resource).filter((column) => column.endsWith('_id') && column !== 'memo_id')

/** What names a version in ids, of the row of its full body. No renewal of a key changes it. */
export const versionMark = (resource: Resource, row: string): string =>
  isKeyedKind(resource) ? `${row}.version_mark` : `${row}.checksum`

/** The row that has the full body of a row `record`, and the join that it takes. */
export const fullOfRecord = (
  resource: Resource,
  { tableName, listedId }: Pick<Dialect, 'tableName' | 'listedId'>,
): { readonly row: string; readonly join: string } =>
  resource.mask === undefined
    ? { row: 'record', join: '' }
    : {
        row: 'unmasked',
        join: `left join ${tableName(fullTable(resource))} as unmasked
          on unmasked.customer = record.customer and unmasked.id = ${listedId.of('record')}`,
      }
