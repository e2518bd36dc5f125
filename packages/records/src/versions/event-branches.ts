import { eventKinds, fullTable, type Resource, resourceOf } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { eventNumbers } from '../records/event-actions.ts'
import { versionMark } from '../schema/tables.ts'

/** A query with conditions on the numbers of its `record`. */
export type Branch = (conditions: string) => string

/** What the queries of `branchesOf` have in addition. */
type BranchParts = {
  /** Columns in place of those of an event. */
  readonly selected?: string | undefined
  /** Columns before those of an event. */
  readonly columns?: string | undefined
  /** A table of customers, for each row of which the branch reads. */
  readonly each?: string | undefined
  /** Further conditions on the events of a kind. */
  readonly matching?: ((kind: string) => string) | undefined
}

/**
 * What has the events of each kind, as queries. With `each` they read the events of several
 * customers, which are rows of that table. The conditions come before that of the index:
 * SQLite begins a scan at the first lower bound that a statement has, and would else read the feed
 * from its beginning.
 */
export function branchesOf(
  dialect: Dialect,
  customer: string,
  kinds: ReadonlySet<string>,
  { selected, columns = '', each, matching = () => '' }: BranchParts = {},
): readonly Branch[] {
  const branchOf =
    (kind: string, { from, id, event, mark, others }: EventTable): Branch =>
    (conditions) => {
      const where = `record.customer = ${customer} and ${conditions} ${others} ${matching(kind)}`
      const ofEvent = `${columns} '${kind}' as kind, ${id} as id, record.change,
        cast(${event} as bigint) as event, record.stored_at, cast(${mark} as bigint) as mark`
      return `
        select ${selected ?? ofEvent}
        from ${each === undefined ? `${from} where ${where}` : dialect.forEachRow(each, from, where)}`
    }
  return eventKinds
    .filter((kind) => kinds.has(kind))
    .flatMap((kind) => tablesOf(kind, dialect).map((table) => branchOf(kind, table)))
}

/** A table with events as rows `record`, in an index by number, and where it has their columns. */
type EventTable = {
  readonly from: string
  readonly id: string
  readonly event: string
  readonly mark: string
  /** Its own conditions, which come last. */
  readonly others: string
}

function tablesOf(kind: string, dialect: Dialect): readonly EventTable[] {
  const { tableName, indexedBy, listedId } = dialect
  if (kind === 'fees') {
    const from = `${tableName('fee_event')} as record`
    return [{ from, id: 'record.id', event: `${eventNumbers.consumed}`, mark: '0', others: '' }]
  }
  const resource = resourceOf(kind)
  const { table } = resource
  const current = {
    from: `${tableName(table)} as record ${indexedBy(`${table}_by_change`)}`,
    id: listedId.of('record'),
    event: 'record.event',
    mark: markOfFull(resource, dialect),
    others: IS_INDEXED,
  }
  const replaced = {
    from: `${tableName('history')} as record ${indexedBy('history_by_change')}`,
    id: 'record.id',
    event: 'record.event',
    mark: versionMark(resource, 'record'),
    others: `and record.kind = '${kind}' ${IS_INDEXED}`,
  }
  return [current, replaced]
}

/** The condition of the indexes by number. */
const IS_INDEXED = 'and record.change > 0'

/** What names the version of a row `record`. */
const markOfFull = (resource: Resource, { tableName, listedId }: Dialect): string =>
  resource.mask === undefined
    ? versionMark(resource, 'record')
    : `coalesce((select ${versionMark(resource, 'unmasked')} from ${tableName(fullTable(resource))} as unmasked
        where unmasked.customer = record.customer and unmasked.id = ${listedId.of('record')}), 0)`
