import type { Dialect, ParameterType } from '../dialect.ts'
import type { PruneKey } from '../records/history.ts'
import type { OperatorRecords } from '../records.ts'
import { isTrue, type NamedRow } from '../row.ts'
import type { Transact, Value } from '../session.ts'

/** Deletes old versions, a few rows in each transaction. */
export const openPruner = (
  transact: Transact,
  dialect: Dialect,
): Pick<OperatorRecords, 'pruneHistory'> => ({
  pruneHistory: (before, from, rowsMax) =>
    transact(async ({ rows }) => {
      if (from === undefined) {
        // What is pruned becomes unknown, so this comes before the first version is deleted.
        const at = dialect.parameter(1, 'bigint')
        const raise = `update ${dialect.tableName('kept_since')} set at = ${at} where at < ${at}`
        await rows({ text: raise, values: [before] })
      }
      const pruned = prunedTables.find(({ table }) => table === (from?.table ?? 'superseded'))
      if (pruned === undefined) return { deleted: 0, next: undefined }
      const values = [before, rowsMax, ...(from?.values ?? [])]
      const text = stepQuery(pruned, from?.values === undefined, dialect)
      const read = await rows({ text, values, prepare: true })
      const ended = read.filter((row) => isTrue(row.is_ended))
      const remove = removeQuery(pruned, dialect)
      let deleted = 0
      for (const row of ended) {
        const values = [...keyOf(pruned, row), before]
        deleted += (await rows({ text: remove, values, prepare: true })).length
      }
      return { deleted, next: nextKey(pruned, read, rowsMax) }
    }),
})

type Pruned = {
  readonly table: PruneKey['table']
  readonly key: readonly (readonly [column: string, type: ParameterType])[]
  readonly endedAt: string
}

/** In the order in which they are pruned. */
const prunedTables: readonly Pruned[] = [
  {
    table: 'superseded',
    key: [
      ['customer_id', 'text'],
      ['kind', 'text'],
      ['id', 'uuid'],
      ['stored_at', 'bigint'],
    ],
    endedAt: 'replaced_at',
  },
  {
    table: 'former_value',
    key: [
      ['customer_id', 'text'],
      ['kind', 'text'],
      ['member', 'text'],
      ['value', 'text'],
      ['position', 'bytea'],
    ],
    endedAt: 'until',
  },
]

/** Selects the next rows in the order of their key, and whether each is to be deleted. */
function stepQuery({ table, key, endedAt }: Pruned, isFirst: boolean, dialect: Dialect): string {
  const { tableName, parameter } = dialect
  const columns = key.map(([column]) => column).join(', ')
  const values = key.map(([, type], at) => parameter(at + 3, type)).join(', ')
  return `
    select ${columns}, ${endedAt} <= ${parameter(1, 'bigint')} as is_ended
    from ${tableName(table)}
    ${isFirst ? '' : `where (${columns}) > (${values})`}
    order by ${columns} limit ${parameter(2, 'bigint')}`
}

/** Deletes one of the rows, unless a merge has moved its end to a later time since it was read. */
function removeQuery({ table, key, endedAt }: Pruned, { tableName, parameter }: Dialect): string {
  const conditions = [
    ...key.map(([column, type], at) => `${column} = ${parameter(at + 1, type)}`),
    `${endedAt} <= ${parameter(key.length + 1, 'bigint')}`,
  ]
  return `delete from ${tableName(table)} where ${conditions.join(' and ')} returning 1`
}

const keyOf = ({ key }: Pruned, row: NamedRow): readonly Value[] =>
  key.map(([column]) => row[column] as Value)

/** Where a pruning goes on, or undefined if it has reached the end. */
function nextKey(pruned: Pruned, rows: readonly NamedRow[], rowsMax: number): PruneKey | undefined {
  const last = rows.length === rowsMax ? rows.at(-1) : undefined
  if (last !== undefined) return { table: pruned.table, values: keyOf(pruned, last) }
  const next = prunedTables[prunedTables.indexOf(pruned) + 1]
  return next && { table: next.table, values: undefined }
}
