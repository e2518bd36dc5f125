import assert from 'node:assert/strict'
import type { Resource } from '../../../contract/resource.ts'
import type { PastSelection } from '../../records/history.ts'
import { bySelectivity, type ColumnFilter, namesOneRecord } from '../filter-order.ts'
import { rangeOf } from '../key-range.ts'
import type { PastDialect } from './past-dialect.ts'

/**
 * Reads a page that was answered at an instant, and one record more, as one row: `items`, `bodies`,
 * `positions`, `checksums`, `lengths` and `history_start`. A record is a candidate if it has, or
 * has had, a value of the most selective filter. The version of that time then decides.
 * `former_value` finds the records that no longer have the value; `extent` bounds the search, so
 * records that were added later cost nothing.
 */
export function pastPageQuery(
  resource: Resource,
  { tenant, view }: { readonly tenant: string; readonly view: 'customer' | 'full' },
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
  view: 'customer' | 'full',
  selection: PastSelection,
  names: Names,
  dialect: PastDialect,
): string {
  const { kind, table, mask } = resource
  const { tableName, states } = dialect
  const { customer, at, size, order } = names
  const isFull = view === 'full' && mask !== undefined
  const isMasked = view === 'customer' && mask !== undefined
  const [body, checksum] = isMasked ? ['masked', 'masked_checksum'] : ['body', 'checksum']
  const current = isFull ? 'whole' : 'record'
  const whole = isFull
    ? `left join ${tableName(`${table}_full`)} as whole on record.stored_at <= ${at}
          and whole.customer_id = record.customer_id and whole.id = record.id`
    : ''
  const where = [inRange('record', selection, dialect), ...conditionsOf(resource, selection, at)]
  const ofState = (state: string) => `
      select record.position,
        case when record.stored_at <= ${at} then ${current}.body else past.${body} end as body,
        case when record.stored_at <= ${at} then ${current}.checksum else past.${checksum} end as checksum
      from ${tableName(table)} as record ${dialect.joinPast(kind, at)} ${whole}
      where record.customer_id = ${customer} and record.deleted = ${state}
        and ${where.join('\n        and ')}`
  return `
    with ${reached(kind, names, dialect)}
    select ${dialect.aggregates(order)}, ${startOf(dialect)}
    from (
      ${statesOf(resource, states)
        .map((state) => dialect.bounded(ofState(state), `order by position ${order} limit ${size}`))
        .join('\n      union all')}
      order by position ${order} limit ${size}
    ) as page`
}

/** Reads keys, one more than the page, by the values of a filter; then the bodies of the page. */
function keyedPage(
  resource: Resource,
  view: 'customer' | 'full',
  selection: PastSelection,
  names: Names,
  dialect: PastDialect,
): string {
  const { kind, table, mask } = resource
  const { tableName } = dialect
  const { customer, size, order } = names
  const sources = candidates(resource, selection, names, dialect)
  const isFull = view === 'full' && mask !== undefined
  const isMasked = view === 'customer' && mask !== undefined
  const current = isFull
    ? `${tableName(`${table}_full`)} as current
        on current.customer_id = ${customer} and current.id = key.id`
    : `${tableName(table)} as current
        on current.customer_id = ${customer} and current.deleted = key.deleted
          and current.position = key.position`
  const [body, checksum] = isMasked ? ['masked', 'masked_checksum'] : ['body', 'checksum']
  return `
    with ${reached(kind, names, dialect)}, key as materialized (
      select distinct position, id, deleted, past_row from (
        ${sources.join('\n        union all\n        ')}
      ) as candidate
      order by position ${order} limit ${size}
    )
    select ${dialect.aggregates(order)}, ${startOf(dialect)}
    from (
      select key.position,
        case when key.past_row is null then current.body else past.${body} end as body,
        case when key.past_row is null then current.checksum else past.${checksum} end as checksum
      from key
      left join ${current} and key.past_row is null
      left join ${tableName('superseded')} as past on past.${dialect.rowName} = key.past_row
      order by key.position ${order}
    ) as page`
}

/** From when on history is whole, read with the page, so that no pruning falls between the two. */
const startOf = ({ tableName, asText }: PastDialect): string =>
  `${asText(`(select at from ${tableName('history_start')})`)} as history_start`

/** The bounds of the positions that the customer had then. */
const reached = (kind: string, { customer, at }: Names, { tableName }: PastDialect): string =>
  `reached as materialized (
      select low, high from ${tableName('extent')}
      where customer_id = ${customer} and kind = '${kind}' and changed_at <= ${at}
      order by changed_at desc limit 1
    )`

const statesOf = ({ deletable }: Resource, { live, deleted }: PastDialect['states']) =>
  deletable ? [live, deleted] : [live]

function inRange(row: string, selection: PastSelection, { bytes }: PastDialect): string {
  const { low, high } = rangeOf(selection)
  return `${row}.position > ${bytes(low)} and ${row}.position < ${bytes(high)}
        and ${row}.position >= (select low from reached)
        and ${row}.position <= (select high from reached)`
}

/** A member of the version of the time. */
const then = (at: string, current: string, past: string): string =>
  `case when record.stored_at <= ${at} then ${current} else ${past} end`

/** The record was stored then, and was not deleted unless that is asked for. */
const conditionsOf = (
  { deletable }: Resource,
  { includeDeleted }: PastSelection,
  at: string,
): readonly string[] => [
  `(record.stored_at <= ${at} or past.stored_at is not null)`,
  ...(deletable && !includeDeleted
    ? [`${then(at, 'record.deleted_at', 'past.deleted_at')} is null`]
    : []),
]

type Names = {
  readonly customer: string
  readonly at: string
  readonly size: string
  readonly order: 'asc' | 'desc'
}

function candidates(
  resource: Resource,
  selection: PastSelection,
  { customer, at, size, order }: Names,
  dialect: PastDialect,
): readonly string[] {
  const { kind, table } = resource
  const { tableName, indexedBy, states } = dialect
  const anyState = statesOf(resource, states)
  const filters = bySelectivity(resource, selection.anyOf)
  const [driver] = filters
  assert(driver !== undefined, 'a page without a filter is a range')
  const listed = filters.map((filter) => ({
    filter,
    values: dialect.texts(filter.values, filter.column === 'id'),
  }))
  const range = inRange('record', selection, dialect)
  const conditions = [
    ...conditionsOf(resource, selection, at),
    ...listed
      .filter(({ filter }) => filter.column !== 'id')
      .map(({ filter: { column }, values }) =>
        dialect.isAnyOf(
          then(at, `record.${column}`, dialect.jsonMember('past.body', column)),
          values,
        ),
      ),
  ].join('\n          and ')
  const read = `select record.position, record.id, record.deleted,
          case when record.stored_at <= ${at} then null else ${dialect.pastRow} end as past_row`
  const join = dialect.joinPast(kind, at)
  const stored = (index: string) => `${tableName(table)} as record ${index}`
  const page = `order by record.position ${order} limit ${size}`
  const former = formerOf(driver)
  if (namesOneRecord(driver)) {
    return [
      `${read}
          from ${dialect.valuesOf(listed[0]?.values ?? '')} 
          cross join ${stored(indexedBy(`${table}_by_${driver.column}`))} ${join}
          where record.customer_id = ${customer} and record.${driver.column} = entry.value
          and ${range} and ${conditions}`,
      ...former,
    ]
  }
  const ofValue = (value: string) => `
          ${read}
          from ${stored(indexedBy(`${table}_by_${driver.column}`))} ${join}
          where record.customer_id = ${customer} and record.${driver.column} = ${value}
          and ${range} and ${conditions}
          ${page}`
  return [dialect.forEach(driver.values, ofValue), ...former]

  /** The records that have lost a value of the filter since. */
  function formerOf({ column, values }: ColumnFilter): readonly string[] {
    if (column === 'id') return []
    // There may be a thousand of them, and each finds few records.
    if (column === 'ref_id') {
      return [
        `${read}
          from ${dialect.valuesOf(listed[0]?.values ?? '')}
          cross join ${tableName('former_value')} as former
          cross join ${stored('')} ${join}
          where former.customer_id = ${customer} and former.kind = '${kind}'
          and former.member = 'ref_id' and former.value = entry.value and former.until > ${at}
          and record.customer_id = ${customer} and record.deleted in (${anyState.join(', ')})
          and record.position = former.position and ${range} and ${conditions}`,
      ]
    }
    const ofValue = (value: string) => `
          ${read}
          from ${tableName('former_value')} as former
          cross join ${stored('')} ${join}
          where former.customer_id = ${customer} and former.kind = '${kind}'
          and former.member = '${column}' and former.value = ${value} and former.until > ${at}
          and ${inRange('former', selection, dialect)}
          and record.customer_id = ${customer} and record.deleted in (${anyState.join(', ')})
          and record.position = former.position and ${conditions}
          order by former.position ${order} limit ${size}`
    return [dialect.forEach(values, ofValue)]
  }
}
