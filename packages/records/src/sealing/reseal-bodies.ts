import { fullTable, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { type NamedRow, text } from '../row.ts'
import type { Session, Value } from '../session.ts'
import type { Progress } from './reseal-progress.ts'

/** A table with bodies of one kind. */
export type Part = {
  readonly resource: Resource
  readonly table: string
  /** The condition of its rows besides the customer, and the columns of their order. */
  readonly condition: string
  readonly columns: readonly string[]
}

/** Current bodies come first: what a merge replaces meanwhile is among the past ones then. */
export const partsOf = (resource: Resource, { tableName }: Dialect): readonly Part[] => [
  {
    resource,
    table: tableName(fullTable(resource)),
    condition: '',
    columns: ['id'],
  },
  {
    resource,
    table: tableName('superseded'),
    condition: `and kind = '${resource.kind}'`,
    columns: ['id', 'stored_at'],
  },
]

const numberOf = ({ tableName }: Dialect, ids: string): string =>
  `select number from ${tableName('customer')} where id in (${ids})`

export const countBodies = (dialect: Dialect, parts: readonly Part[], customers: string): string =>
  parts
    .map(
      ({ table, condition }) => `(select count(*) from ${table}
        where customer in (${numberOf(dialect, customers)}) ${condition})`,
    )
    .join(' + ')

export const countWithoutKey = (
  { tableName, boolean }: Dialect,
  parts: readonly Part[],
): string => `
  select count(*) as customers from ${tableName('customer')} as owner
  where not exists (select 1 from ${tableName('customer_key')} as known
      where known.customer_id = owner.id and known.current = ${boolean(true)})
    and (${parts
      .map(
        ({ table, condition }) =>
          `exists (select 1 from ${table} where customer = owner.number ${condition})`,
      )
      .join(' or ')})`

/** The next bodies of a customer, a bounded number. */
export async function readBodies(
  { rows }: Session,
  { parameter }: Dialect,
  { table, condition, columns }: Part,
  customer: bigint,
  { id, storedAt }: Progress,
): Promise<readonly NamedRow[]> {
  const place = [parameter(3, 'uuid'), parameter(4, 'bigint')].slice(0, columns.length)
  const later = id === undefined ? '' : `and (${columns.join(', ')}) > (${place.join(', ')})`
  const values = id === undefined ? [] : [id, storedAt ?? null].slice(0, columns.length)
  return await rows({
    text: `select ${columns.join(', ')}, body, checksum from ${table}
      where customer = ${parameter(1, 'integer')} ${condition} ${later}
      order by ${columns.join(', ')} limit ${parameter(2, 'bigint')}`,
    values: [customer, recordsLimits.resealedTogether, ...values],
  })
}

export type Changed = { readonly row: NamedRow; readonly body: string }

export async function writeBodies(
  { rows }: Session,
  dialect: Dialect,
  { table, condition, columns }: Part,
  customer: bigint,
  changed: readonly Changed[],
): Promise<void> {
  if (changed.length === 0) return
  const types = { body: 'text[]', id: 'uuid[]', stored_at: 'bigint[]' } as const
  const names = ['body', ...columns] as readonly (keyof typeof types)[]
  const lists: Readonly<Record<keyof typeof types, Value>> = {
    body: dialect.list(changed.map(({ body }) => body)),
    id: dialect.list(changed.map(({ row }) => text(row, 'id'))),
    stored_at: dialect.list(changed.map(({ row }) => String(row.stored_at))),
  }
  const given = dialect.unnest(
    'changed',
    Object.fromEntries(names.map((name) => [name, types[name]])),
  )
  const isSame = columns.map((column) => `stored.${column} = changed.${column}`).join(' and ')
  await rows({
    text: `update ${table} as stored set body = changed.body from ${given}
      where stored.customer = ${dialect.parameter(names.length + 1, 'integer')} ${condition} and ${isSame}`,
    values: [...names.map((name) => lists[name]), customer],
  })
}
