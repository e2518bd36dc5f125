import assert from 'node:assert/strict'
import { fullTable, type Resource } from '../../contract/resource.ts'
import { type Dialect, openParameters, type Parameters } from '../dialect.ts'
import type { PastSelection } from '../records/history.ts'
import { bySelectivity, namesOneRecord, rangeOf } from '../records/page.ts'
import { customerNumber } from '../schema/customers.ts'
import { filterValue } from '../schema/tables.ts'
import type { Statement } from '../session.ts'

/**
 * Reads a page that was answered at an instant, and one record more, as one row: `items`, `bodies`,
 * `positions`, `checksums`, `lengths` and `kept_since`. A record is a candidate if it has, or
 * has had, a value of the most selective filter. The version of that time then decides.
 * `former_value` finds the records that no longer have the value; `extent` bounds the search, so
 * records that were added later cost nothing.
 */
export function pastPageQuery(
  resource: Resource,
  { tenant, view }: { readonly tenant: string; readonly view: PastView },
  selection: PastSelection,
  dialect: Dialect,
): Statement {
  const parameters = openParameters(dialect)
  const { add } = parameters
  const at = add(selection.asOf, 'bigint')
  const customer = customerNumber(dialect, add(tenant, 'text'))
  const { low, high } = rangeOf(selection)
  const asked: Asked = {
    resource,
    view,
    selection,
    dialect,
    parameters,
    customer,
    at,
    range: { low: add(low, 'bytea'), high: add(high, 'bytea') },
    size: `${add(selection.limit, 'bigint')} + 1`,
    order: selection.order === 'ASC' ? 'asc' : 'desc',
  }
  const text = selection.anyOf.length === 0 ? rangePage(asked) : keyedPage(asked)
  const prepare = selection.anyOf.length <= PREPARED_FILTERS_MAX
  return { text, values: parameters.values, prepare }
}

/** Statements with more filters are planned each time; all combinations would fill the memory. */
const PREPARED_FILTERS_MAX = 1

type PastView = 'customer' | 'full'

/** A page, and how its statement names what it compares with. */
type Asked = {
  readonly resource: Resource
  readonly view: PastView
  readonly selection: PastSelection
  readonly dialect: Dialect
  readonly parameters: Parameters
  readonly customer: string
  readonly at: string
  readonly range: { readonly low: string; readonly high: string }
  readonly size: string
  readonly order: 'asc' | 'desc'
}

/** Walks the order of the customer, and takes each record's version of the time on the way. */
function rangePage(asked: Asked): string {
  const { resource, view, dialect, customer, at, size, order } = asked
  const { kind, table } = resource
  const { tableName, joinPast, bounded, listedId } = dialect
  const shown = shownTable(resource, view)
  const isApart = shown !== table
  const whole = isApart
    ? `left join ${tableName(shown)} as whole on record.stored_at <= ${at}
          and whole.customer = record.customer and whole.id = ${listedId.of('record')}`
    : ''
  const current = isApart ? 'whole' : 'record'
  const content = contentOf(asked, `record.stored_at <= ${at}`, current)
  const where = [inRange('record', asked), ...conditionsOf(asked)].join('\n        and ')
  const page = `order by position ${order} limit ${size}`
  const ofState = (state: string) => `
      select record.position, ${content}
      from ${tableName(table)} as record ${joinPast(kind, at)} ${whole}
      where record.customer = ${customer} and record.deleted = ${state}
        and ${where}`
  return `
    with ${reached(asked)}
    select ${pageColumns(asked)}
    from (
      ${statesOf(dialect)
        .map((state) => bounded(ofState(state), page))
        .join('\n      union all')}
      ${page}
    ) as page`
}

/** Reads keys, one more than the page, by the values of a filter; then the bodies of the page. */
function keyedPage(asked: Asked): string {
  const { resource, view, dialect, customer, size, order } = asked
  const { tableName, rowName } = dialect
  const shown = shownTable(resource, view)
  const ofKey =
    shown === resource.table
      ? 'current.deleted = key.deleted and current.position = key.position'
      : 'current.id = key.id'
  return `
    with ${reached(asked)}, key as materialized (
      select distinct position, id, deleted, past_row from (
        ${candidates(asked).join('\n        union all\n        ')}
      ) as candidate
      order by position ${order} limit ${size}
    )
    select ${pageColumns(asked)}
    from (
      select key.position, ${contentOf(asked, 'key.past_row is null', 'current')}
      from key
      left join ${tableName(shown)} as current
        on current.customer = ${customer} and ${ofKey} and key.past_row is null
      left join ${tableName('superseded')} as past on past.${rowName} = key.past_row
      order by key.position ${order}
    ) as page`
}

/** The table that has the current bodies of a view. */
const shownTable = (resource: Resource, view: PastView): string =>
  view === 'full' ? fullTable(resource) : resource.table

/** The columns `body` and `checksum` of the version of the time. */
function contentOf({ resource, view }: Asked, isCurrent: string, current: string): string {
  const isMasked = view === 'customer' && resource.mask !== undefined
  const [body, checksum] = isMasked ? ['masked', 'masked_checksum'] : ['body', 'checksum']
  return `
        case when ${isCurrent} then ${current}.body else past.${body} end as body,
        case when ${isCurrent} then ${current}.checksum else past.${checksum} end as checksum`
}

/** `kept_since` is read with the page, so that no pruning falls between the two. */
function pageColumns({ resource: { kind }, dialect, customer, order }: Asked): string {
  const { joined, longText, hex, tableName } = dialect
  return `
      ${longText(joined('body', ',', order))} as items, count(body) as bodies,
      ${joined(hex('position'), '', order)} as positions,
      ${joined('checksum', ',', order)} as checksums,
      ${joined('octet_length(body)', ',', order)} as lengths,
      (select at from ${tableName('kept_since')}
        where customer = ${customer} and kind = '${kind}') as kept_since`
}

/** The bounds of the positions that the customer had then. */
const reached = ({ resource: { kind }, dialect: { tableName }, customer, at }: Asked): string =>
  `reached as materialized (
      select low, high from ${tableName('extent')}
      where customer = ${customer} and kind = '${kind}' and changed_at <= ${at}
      order by changed_at desc limit 1
    )`

/** A record that is deleted or withdrawn now may not have been then. */
const statesOf = ({ boolean }: Dialect) => [false, true].map(boolean)

const inRange = (row: string, { range: { low, high } }: Asked): string =>
  `${row}.position > ${low} and ${row}.position < ${high}
        and ${row}.position >= (select low from reached)
        and ${row}.position <= (select high from reached)`

/** A member of the version of the time. */
const then = (at: string, current: string, past: string): string =>
  `case when record.stored_at <= ${at} then ${current} else ${past} end`

/** The record was stored then, and was not deleted or withdrawn unless the query includes those. */
const conditionsOf = ({ selection: { includeDeleted }, at }: Asked): readonly string[] => [
  `(record.stored_at <= ${at} or past.stored_at is not null)`,
  ...(includeDeleted ? [] : [`${then(at, 'record.deleted_at', 'past.deleted_at')} is null`]),
]

/** The queries of a page's keys: by the values of records, and by those that they have lost. */
function candidates(asked: Asked): readonly string[] {
  const { resource, selection, dialect, parameters, customer, at, size, order } = asked
  const { kind, table } = resource
  const { tableName, indexedBy, isAnyOf, jsonMember, joinPast, pastRow, listedId } = dialect
  const filters = bySelectivity(resource, selection.anyOf).map((filter) => ({
    ...filter,
    list: parameters.addList(filter.values, filter.column === 'id' ? 'uuid[]' : 'text[]'),
  }))
  const [driver, other] = filters
  assert(driver !== undefined, 'a page without a filter is a range')
  const { column } = driver
  // What records have lost is noted by the member, not by its key.
  const former = column === 'exclusive_key' && other !== undefined ? other : driver
  const conditions = [
    ...conditionsOf(asked),
    ...filters
      .filter((filter) => filter.column !== 'id' && filter.column !== 'exclusive_key')
      .map((filter) => {
        const past = jsonMember('past.body', filter.column)
        const current = filterValue(resource, dialect, { row: 'record' }, filter.column)
        return isAnyOf(then(at, current, past), filter.list)
      }),
  ].join('\n          and ')
  const stored = {
    row: 'record',
    filter: driver,
    tables: `${tableName(table)} as record ${indexedBy(`${table}_by_${column}`)}`,
    where: (value: string) =>
      column === 'id' ? listedId.is('record', value) : `record.${column} = ${value}`,
  }
  const lost = {
    row: 'former',
    filter: former,
    tables: `${tableName('former_value')} as former cross join ${tableName(table)} as record`,
    where: (value: string) => `former.customer = ${customer} and former.kind = '${kind}'
          and former.member = '${former.column}' and former.value = ${value} and former.until > ${at}
          and record.deleted in (${statesOf(dialect).join(', ')})
          and record.position = former.position`,
  }
  const keysOf = ({ row, filter, tables, where }: typeof stored) => {
    const select = (value: string, entries = '') => `
          select record.position, ${listedId.of('record')} as id, record.deleted,
            case when record.stored_at <= ${at} then null else ${pastRow} end as past_row
          from ${entries} ${tables} ${joinPast(kind, at)}
          where record.customer = ${customer} and ${where(value)}
          and ${inRange(row, asked)} and ${conditions}`
    // There may be a thousand of them, and each finds few records.
    if (namesOneRecord(driver)) {
      return select('entry.value', `${dialect.entriesOf(filter.list)} cross join`)
    }
    const page = `order by ${row}.position ${order} limit ${size}`
    const { list, values } = filter
    return dialect.forEach(list, values.length, (value) => `${select(value)} ${page}`)
  }
  // No record loses its id.
  return (column === 'id' ? [stored] : [stored, lost]).map(keysOf)
}
