import assert from 'node:assert/strict'
import { fullTable, type Resource } from '../../../contract/resource.ts'
import type { PastSelection } from '../../records/history.ts'
import { bySelectivity, namesOneRecord } from '../filter-order.ts'
import { rangeOf } from '../key-range.ts'
import type { PastDialect } from './past-dialect.ts'

/**
 * Reads a page that was answered at an instant, and one record more, as one row: `items`, `bodies`,
 * `positions`, `checksums`, `lengths` and `kept_since`. A record is a candidate if it has, or
 * has had, a value of the most selective filter. The version of that time then decides.
 * `former_value` finds the records that no longer have the value; `extent` bounds the search, so
 * records that were added later cost nothing.
 */
export function pastPageQuery(
  resource: Resource,
  { tenant, view }: { readonly tenant: string; readonly view: View },
  selection: PastSelection,
  dialect: PastDialect,
): string {
  const at = dialect.instant(selection.asOf)
  const customer = dialect.text(tenant)
  const limit = dialect.count(selection.limit)
  const order = selection.order === 'ASC' ? 'asc' : 'desc'
  const names = { customer, at, size: `${limit} + 1`, order } as const
  const read = selection.anyOf.length === 0 ? rangePage : keyedPage
  return read(resource, view, selection, names, dialect)
}

/** Walks the order of the customer, and takes each record's version of the time on the way. */
function rangePage(
  resource: Resource,
  view: View,
  selection: PastSelection,
  names: Names,
  dialect: PastDialect,
): string {
  const { kind, table } = resource
  const { tableName, states } = dialect
  const { customer, at, size, order } = names
  const shown = shownTable(resource, view)
  const isApart = shown !== table
  const whole = isApart
    ? `left join ${tableName(shown)} as whole on record.stored_at <= ${at}
          and whole.customer_id = record.customer_id and whole.id = record.id`
    : ''
  const current = isApart ? 'whole' : 'record'
  const content = contentOf(resource, view, `record.stored_at <= ${at}`, current)
  const where = [inRange('record', selection, dialect), ...conditionsOf(selection, at)]
  const ofState = (state: string) => `
      select record.position, ${content}
      from ${tableName(table)} as record ${dialect.joinPast(kind, at)} ${whole}
      where record.customer_id = ${customer} and record.deleted = ${state}
        and ${where.join('\n        and ')}`
  return `
    with ${reached(kind, names, dialect)}
    select ${dialect.aggregates(order)}, ${keptSince(kind, names, dialect)}
    from (
      ${statesOf(states)
        .map((state) => dialect.bounded(ofState(state), `order by position ${order} limit ${size}`))
        .join('\n      union all')}
      order by position ${order} limit ${size}
    ) as page`
}

/** Reads keys, one more than the page, by the values of a filter; then the bodies of the page. */
function keyedPage(
  resource: Resource,
  view: View,
  selection: PastSelection,
  names: Names,
  dialect: PastDialect,
): string {
  const { kind, table } = resource
  const { tableName } = dialect
  const { customer, size, order } = names
  const shown = shownTable(resource, view)
  const ofKey =
    shown === table
      ? 'current.deleted = key.deleted and current.position = key.position'
      : 'current.id = key.id'
  return `
    with ${reached(kind, names, dialect)}, key as materialized (
      select distinct position, id, deleted, past_row from (
        ${candidates(resource, selection, names, dialect).join('\n        union all\n        ')}
      ) as candidate
      order by position ${order} limit ${size}
    )
    select ${dialect.aggregates(order)}, ${keptSince(kind, names, dialect)}
    from (
      select key.position, ${contentOf(resource, view, 'key.past_row is null', 'current')}
      from key
      left join ${tableName(shown)} as current
        on current.customer_id = ${customer} and ${ofKey} and key.past_row is null
      left join ${tableName('superseded')} as past on past.${dialect.rowName} = key.past_row
      order by key.position ${order}
    ) as page`
}

type View = 'customer' | 'full'

/** The table that has the current bodies of a view. */
const shownTable = (resource: Resource, view: View): string =>
  view === 'full' ? fullTable(resource) : resource.table

/** The columns `body` and `checksum` of the version of the time. */
function contentOf({ mask }: Resource, view: View, isCurrent: string, current: string): string {
  const isMasked = view === 'customer' && mask !== undefined
  const [body, checksum] = isMasked ? ['masked', 'masked_checksum'] : ['body', 'checksum']
  return `
        case when ${isCurrent} then ${current}.body else past.${body} end as body,
        case when ${isCurrent} then ${current}.checksum else past.${checksum} end as checksum`
}

/** Since when records are kept, read with the page, so that no pruning falls between the two. */
const keptSince = (kind: string, { customer }: Names, { tableName, asText }: PastDialect): string =>
  `${asText(`(select at from ${tableName('kept_since')} where customer_id = ${customer} and kind = '${kind}')`)} as kept_since`

/** The bounds of the positions that the customer had then. */
const reached = (kind: string, { customer, at }: Names, { tableName }: PastDialect): string =>
  `reached as materialized (
      select low, high from ${tableName('extent')}
      where customer_id = ${customer} and kind = '${kind}' and changed_at <= ${at}
      order by changed_at desc limit 1
    )`

/** A record that is deleted or withdrawn now may not have been then. */
const statesOf = ({ live, deleted }: PastDialect['states']) => [live, deleted]

function inRange(row: string, selection: PastSelection, { bytes }: PastDialect): string {
  const { low, high } = rangeOf(selection)
  return `${row}.position > ${bytes(low)} and ${row}.position < ${bytes(high)}
        and ${row}.position >= (select low from reached)
        and ${row}.position <= (select high from reached)`
}

/** A member of the version of the time. */
const then = (at: string, current: string, past: string): string =>
  `case when record.stored_at <= ${at} then ${current} else ${past} end`

/** The record was stored then, and was not deleted or withdrawn unless that is asked for. */
const conditionsOf = ({ includeDeleted }: PastSelection, at: string): readonly string[] => [
  `(record.stored_at <= ${at} or past.stored_at is not null)`,
  ...(!includeDeleted ? [`${then(at, 'record.deleted_at', 'past.deleted_at')} is null`] : []),
]

type Names = {
  readonly customer: string
  readonly at: string
  readonly size: string
  readonly order: 'asc' | 'desc'
}

/** The queries of a page's keys: by the values of records, and by those that they have lost. */
function candidates(
  resource: Resource,
  selection: PastSelection,
  { customer, at, size, order }: Names,
  dialect: PastDialect,
): readonly string[] {
  const { kind, table } = resource
  const { tableName, indexedBy } = dialect
  const filters = bySelectivity(resource, selection.anyOf).map((filter) => ({
    ...filter,
    list: dialect.texts(filter.values, filter.column === 'id'),
  }))
  const [driver] = filters
  assert(driver !== undefined, 'a page without a filter is a range')
  const { column } = driver
  const conditions = [
    ...conditionsOf(selection, at),
    ...filters
      .filter((filter) => filter.column !== 'id')
      .map((filter) => {
        const past = dialect.jsonMember('past.body', filter.column)
        return dialect.isAnyOf(then(at, `record.${filter.column}`, past), filter.list)
      }),
  ].join('\n          and ')
  const stored = {
    row: 'record',
    tables: `${tableName(table)} as record ${indexedBy(`${table}_by_${column}`)}`,
    where: (value: string) => `record.${column} = ${value}`,
  }
  const lost = {
    row: 'former',
    tables: `${tableName('former_value')} as former cross join ${tableName(table)} as record`,
    where: (value: string) => `former.customer_id = ${customer} and former.kind = '${kind}'
          and former.member = '${column}' and former.value = ${value} and former.until > ${at}
          and record.deleted in (${statesOf(dialect.states).join(', ')})
          and record.position = former.position`,
  }
  const keysOf = ({ row, tables, where }: typeof stored) => {
    const range = inRange(row, selection, dialect)
    const select = (value: string, entries = '') => `
          select record.position, record.id, record.deleted,
            case when record.stored_at <= ${at} then null else ${dialect.pastRow} end as past_row
          from ${entries} ${tables} ${dialect.joinPast(kind, at)}
          where record.customer_id = ${customer} and ${where(value)}
          and ${range} and ${conditions}`
    // There may be a thousand of them, and each finds few records.
    if (namesOneRecord(driver)) {
      return select('entry.value', `${dialect.valuesOf(driver.list)} cross join`)
    }
    const page = `order by ${row}.position ${order} limit ${size}`
    return dialect.forEach(driver.values, (value) => `${select(value)} ${page}`)
  }
  // No record loses its id.
  return (column === 'id' ? [stored] : [stored, lost]).map(keysOf)
}
