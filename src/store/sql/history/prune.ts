import type { PruneKey } from '../../records/history.ts'

type PruneNames = {
  readonly tableName: (table: string) => string
  /** The parameters: the time, the number of rows, and the values of a key. */
  readonly before: string
  readonly rowsMax: string
  readonly key: (at: number, type: 'text' | 'uuid' | 'bigint' | 'bytea') => string
}

type Pruned = {
  readonly table: PruneKey['table']
  readonly key: readonly (readonly [column: string, type: 'text' | 'uuid' | 'bigint' | 'bytea'])[]
  readonly endedAt: string
}

/** In the order in which they are pruned. */
export const prunedTables: readonly Pruned[] = [
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

/** What is pruned becomes unknown, so it is said before the first version is deleted. */
export const raiseKeptSince = ({ tableName, before }: PruneNames): string =>
  `update ${tableName('kept_since')} set at = ${before} where at < ${before}`

/** Selects the next rows in the order of their key, and whether each is to be deleted. */
export function pruneStep(pruned: Pruned, isFirst: boolean, names: PruneNames): string {
  const columns = pruned.key.map(([column]) => column).join(', ')
  const values = pruned.key.map(([, type], at) => names.key(at, type)).join(', ')
  return `
    select ${columns}, ${pruned.endedAt} <= ${names.before} as is_ended
    from ${names.tableName(pruned.table)}
    ${isFirst ? '' : `where (${columns}) > (${values})`}
    order by ${columns} limit ${names.rowsMax}`
}

/** Deletes one of the rows. */
export function pruneRow(
  pruned: Pruned,
  { tableName, key }: Pick<PruneNames, 'tableName' | 'key'>,
) {
  const conditions = pruned.key.map(([column, type], at) => `${column} = ${key(at, type)}`)
  return `delete from ${tableName(pruned.table)} where ${conditions.join(' and ')}`
}

/** Where a pruning goes on, or undefined if it has reached the end. */
export function nextKey(
  pruned: Pruned,
  rows: readonly Readonly<Record<string, unknown>>[],
  rowsMax: number,
): PruneKey | undefined {
  const last = rows.length === rowsMax ? rows.at(-1) : undefined
  if (last !== undefined) {
    return { table: pruned.table, values: pruned.key.map(([column]) => last[column]) }
  }
  const next = prunedTables[prunedTables.indexOf(pruned) + 1]
  return next && { table: next.table, values: undefined }
}
