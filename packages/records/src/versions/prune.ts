import { eventKinds } from '@bursar/contract'
import { type Dialect, openParameters, type Parameters } from '../dialect.ts'
import type { PruneKey } from '../records/history.ts'
import type { OperatorRecords } from '../records.ts'
import { bytes, type NamedRow, text, whole } from '../row.ts'
import type { Session, Transact } from '../session.ts'
import { branchesOf } from './event-branches.ts'

/** Deletes old versions, a few rows in each transaction. */
export const openPruner = (
  transact: Transact,
  dialect: Dialect,
): Pick<OperatorRecords, 'pruneHistory'> => ({
  pruneHistory: (before, from, rowsMax) =>
    transact(async ({ rows }) => {
      if (from === undefined) {
        // What is pruned becomes unknown, so this comes before the first version is deleted.
        await rows({ text: raiseKeptSince(dialect), values: [before] })
      }
      const { table, values: start } = from ?? { table: 'history', values: undefined }
      const names = Object.keys(keys[table]).join(', ')
      const name = dialect.tableName(table)
      const find = openParameters(dialect)
      const [found] = await rows({
        text: `select ${names} from ${name} where ${isKey(table, '>', start, find)}
          order by ${names} limit 1 offset ${find.add(rowsMax - 1, 'bigint')}`,
        values: find.values,
        prepare: true,
      })
      const end = found && readKey(table, found)
      const remove = openParameters(dialect)
      const isOld = `${isKey(table, '>', start, remove)} and ${isKey(table, '<=', end, remove)}
          and ${endedAt[table]} <= ${remove.add(before, 'bigint')}`
      const removal: Readonly<Record<PruneKey['table'], string>> = {
        history: `${isOld} returning customer, kind, change`,
        // A merge raises the times of values, in an order of its own, and may hold some of these.
        former_value: `(${names}) in (
            select ${names} from ${name} where ${isOld} ${dialect.forUpdate('skip')}) returning 1`,
        change_log: `${isOld} and ${isWithoutEvents(dialect)} returning 1`,
      }
      const deleted = await rows({
        text: `delete from ${name} as pruned where ${removal[table]}`,
        values: remove.values,
        prepare: true,
      })
      if (table === 'history') await notePruned(rows, dialect, deleted)
      return { deleted: deleted.length, next: nextKey(table, end) }
    }),
})

/** Two prunings lock the rows in one order, so neither waits for the other in a circle. */
function raiseKeptSince({ tableName, parameter, forUpdate }: Dialect): string {
  const [table, at] = [tableName('kept_since'), parameter(1, 'bigint')]
  return `
    with earlier as materialized (
      select customer, kind from ${table} where at < ${at}
      order by customer, kind ${forUpdate('wait')}
    )
    update ${table} set at = ${at}
    where at < ${at} and (customer, kind) in (select customer, kind from earlier)`
}

/** Notes the last of the deleted versions of each customer and kind, in the order of their keys. */
async function notePruned(
  rows: Session['rows'],
  { tableName, unnest, list }: Dialect,
  deleted: readonly NamedRow[],
): Promise<void> {
  const lastOf = new Map<string, { customer: bigint; kind: string; change: bigint }>()
  for (const row of deleted) {
    const one = { customer: whole(row, 'customer'), kind: text(row, 'kind') }
    const change = whole(row, 'change')
    const key = `${one.customer} ${one.kind}`
    if (change > (lastOf.get(key)?.change ?? 0n)) lastOf.set(key, { ...one, change })
  }
  if (lastOf.size === 0) return
  const last = [...lastOf.values()].toSorted((one, other) =>
    one.customer === other.customer
      ? one.kind.localeCompare(other.kind)
      : Number(one.customer - other.customer),
  )
  const columns = { customer: 'bigint[]', kind: 'text[]', change: 'bigint[]' } as const
  await rows({
    text: `update ${tableName('kept_since')} as kept set pruned = cut.change
      from ${unnest('cut', columns)}
      where kept.customer = cut.customer and kept.kind = cut.kind and kept.pruned < cut.change`,
    values: [
      list(last.map(({ customer }) => Number(customer))),
      list(last.map(({ kind }) => kind)),
      list(last.map(({ change }) => Number(change))),
    ],
    prepare: true,
  })
}

/** Whether no version of an entry is left. The last entry stays: new readers begin after it. */
function isWithoutEvents(dialect: Dialect): string {
  const events = branchesOf(dialect, 'pruned.customer', new Set(eventKinds)).map((branch) =>
    branch('record.change > pruned.low and record.change <= pruned.high'),
  )
  return `pruned.seq < (select seq from ${dialect.tableName('change_head')})
    and not exists (${events.join(' union all ')})`
}

const endedAt = {
  history: 'replaced_at',
  former_value: 'until',
  change_log: 'listed_at',
} as const

/** The columns of the index in whose order a table is pruned, with their types. */
const keys = {
  history: { customer: 'bigint', kind: 'text', id: 'uuid', stored_at: 'bigint' },
  former_value: {
    customer: 'bigint',
    kind: 'text',
    member: 'text',
    value: 'text',
    position: 'bytea',
  },
  change_log: { seq: 'bigint' },
} as const

/** Compares the key of a row. Without a key, every row is meant. */
function isKey(
  table: PruneKey['table'],
  comparison: '>' | '<=',
  values: PruneKey['values'],
  { add }: Parameters,
): string {
  if (values === undefined) return 'true'
  const columns = Object.entries(keys[table])
  const key = columns.map(([, type], at) => add(values[at] ?? null, type))
  return `(${columns.map(([column]) => column).join(', ')}) ${comparison} (${key.join(', ')})`
}

/** Entries of the log come after the versions that they show. */
const tables: readonly PruneKey['table'][] = ['history', 'former_value', 'change_log']

const readers = { text, uuid: text, bigint: whole, bytea: bytes } as const

const readKey = (table: PruneKey['table'], row: NamedRow): PruneKey['values'] =>
  Object.entries(keys[table]).map(([column, type]) => readers[type](row, column))

/** Where a pruning goes on, or undefined if it has reached the end. */
function nextKey(table: PruneKey['table'], values: PruneKey['values']): PruneKey | undefined {
  if (values !== undefined) return { table, values }
  const next = tables[tables.indexOf(table) + 1]
  return next && { table: next, values: undefined }
}
