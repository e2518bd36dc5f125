import { fullTable, isKeyedKind, isSealedKind, type Resource, resources } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { Reads } from '../session.ts'

/** A table with rows of one kind that a customer's key seals, or digests. */
export type Part = {
  readonly resource: Resource
  readonly table: string
  /** The condition of its rows `stored` besides the customer. */
  readonly condition: string
  /** The id of a row. */
  readonly id: string
  /** The columns of the order in which the rows of a customer are read. */
  readonly columns: readonly (keyof typeof columnTypes)[]
  /** Whether its rows are of current records, which may have terms. */
  readonly isCurrent: boolean
}

export const columnTypes = {
  id: 'uuid',
  stored_at: 'bigint',
  deleted: 'boolean',
  position: 'bytea',
} as const

/** Current rows come first: what a merge replaces meanwhile is among the past ones then. */
export const partsOf = (dialect: Dialect): readonly Part[] =>
  resources.filter(isKeyedKind).flatMap((resource): readonly Part[] => {
    const { tableName, listedId } = dialect
    const condition = `and stored.kind = '${resource.kind}'`
    const [id, columns] = isSealedKind(resource)
      ? (['stored.id', ['id']] as const)
      : ([listedId.of('stored'), ['deleted', 'position']] as const)
    const past = { id: 'stored.id', columns: ['id', 'stored_at'], isCurrent: false } as const
    return [
      {
        resource,
        table: tableName(fullTable(resource)),
        condition: '',
        id,
        columns,
        isCurrent: true,
      },
      { resource, table: tableName('history'), condition, ...past },
    ]
  })

const numberOf = ({ tableName }: Dialect, ids: string): string =>
  `select number from ${tableName('customer')} where id in (${ids})`

/** How many rows customers have, whose ids a query selects. */
export const countRows = (dialect: Dialect, customers: string): string =>
  partsOf(dialect)
    .map(
      ({ table, condition }) => `(select count(*) from ${table} as stored
        where stored.customer in (${numberOf(dialect, customers)}) ${condition})`,
    )
    .join(' + ')

/** Whether a row `owner` of customers has rows that take a key. */
const isKeyed = (dialect: Dialect): string =>
  partsOf(dialect)
    .map(
      ({ table, condition }) =>
        `exists (select 1 from ${table} as stored where stored.customer = owner.number ${condition})`,
    )
    .join(' or ')

export const countWithoutKey = (dialect: Dialect): string => `
  select count(*) as customers from ${dialect.tableName('customer')} as owner
  where not exists (select 1 from ${dialect.tableName('customer_key')} as known
      where known.customer_id = owner.id and known.current = ${dialect.boolean(true)})
    and (${isKeyed(dialect)})`

/** Whether any of some customers has rows that take a key. */
export async function haveKeyedRows(
  { rows }: Reads,
  dialect: Dialect,
  customerIds: readonly string[],
): Promise<boolean> {
  if (customerIds.length === 0) return false
  const found = await rows({
    text: `select 1 from ${dialect.tableName('customer')} as owner
      where ${dialect.isAnyOf('owner.id', dialect.parameter(1, 'text[]'))} and (${isKeyed(dialect)})
      limit 1`,
    values: [dialect.list(customerIds)],
    prepare: true,
  })
  return found.length > 0
}
