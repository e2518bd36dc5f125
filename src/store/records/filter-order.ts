import type { Resource } from '../../contract/resource.ts'
import type { Selection } from './page.ts'

export type ColumnFilter = { readonly column: string; readonly values: readonly string[] }

/** Whether a value names at most one record of a customer, deleted records included. */
export const namesOneRecord = ({ column }: ColumnFilter): boolean =>
  column === 'id' || column === 'ref_id'

/** The filters by SQL column, most selective first: id, ref_id, then the resource's columns. */
export function bySelectivity(resource: Resource, filters: Selection['anyOf']): ColumnFilter[] {
  const columns: Readonly<Record<string, string>> = {
    id: 'id',
    refId: 'ref_id',
    ...resource.columns,
  }
  const rank = Object.keys(columns)
  return filters
    .toSorted((a, b) => rank.indexOf(a.column) - rank.indexOf(b.column))
    .map(({ column, values }) => ({ column: columns[column] ?? column, values }))
}
