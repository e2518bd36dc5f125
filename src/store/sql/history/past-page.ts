import type { Resource } from '../../../contract/resource.ts'
import type { PastSelection } from '../../records/history.ts'
import { bySelectivity, type ColumnFilter, namesOneRecord } from '../filter-order.ts'
import { rangeOf } from '../key-range.ts'

/** What the two stores spell differently in the query of a past page. */
export type PastDialect = {
  readonly tableName: (table: string) => string
  readonly indexedBy: (index: string) => string
  readonly states: Readonly<Record<'live' | 'deleted', string>>
  /** A member of the JSON text in a column, as text. */
  readonly jsonMember: (column: string, member: string) => string
  /** Whether an expression is one of several values. */
  readonly isAnyOf: (expression: string, values: string) => string
  /** Rows `entry` of one column `value`, as what follows `from`. */
  readonly valuesOf: (values: string) => string
  /** Runs a query for each of several values. The query gets the name of the value. */
  readonly forEach: (values: readonly string[], query: (value: string) => string) => string
  /** Joins the version `past` of a record `record` that is in force at a time. */
  readonly joinPast: (kind: string, at: string) => string
  /** Adds a parameter, and returns how the text names it. */
  readonly instant: (micros: bigint) => string
  readonly text: (value: string) => string
  readonly bytes: (value: Uint8Array) => string
  readonly texts: (values: readonly string[], isId: boolean) => string
  readonly count: (value: number) => string
}

/**
 * Selects one record more than a page that was answered at an instant: (position, body, checksum,
 * is_past). A record is a candidate if it has, or has had, a value of the most selective filter.
 * The version of that time then decides. `former_value` finds the records that no longer have the
 * value; `extent` bounds the search, so records that were added later cost nothing.
 */
export function pastPageQuery(
  resource: Resource,
  { tenant, view }: { readonly tenant: string; readonly view: 'customer' | 'full' },
  selection: PastSelection,
  dialect: PastDialect,
): string {
  const { kind, table, mask } = resource
  const { tableName } = dialect
  const at = dialect.instant(selection.asOf)
  const customer = dialect.text(tenant)
  const size = `${dialect.count(selection.limit)} + 1`
  const order = selection.order === 'ASC' ? 'asc' : 'desc'
  const sources = candidates(resource, selection, { customer, at, size, order }, dialect)
  const isFull = view === 'full' && mask !== undefined
  const current = isFull
    ? `${tableName(`${table}_full`)} as current
        on current.customer_id = ${customer} and current.id = key.id`
    : `${tableName(table)} as current
        on current.customer_id = ${customer} and current.deleted = key.deleted
          and current.position = key.position`
  return `
    with reached as materialized (
      select low, high from ${tableName('extent')}
      where customer_id = ${customer} and kind = '${kind}' and changed_at <= ${at}
      order by changed_at desc limit 1
    ), key as materialized (
      select distinct position, id, deleted, past_at from (
        ${sources.join('\n        union all\n        ')}
      ) as candidate
      order by position ${order} limit ${size}
    )
    select key.position, key.past_at is not null as is_past,
      case when key.past_at is null then current.body else past.body end as body,
      case when key.past_at is null then current.checksum else past.checksum end as checksum
    from key
    left join ${current}
    left join ${tableName('superseded')} as past
      on past.customer_id = ${customer} and past.kind = '${kind}' and past.id = key.id
        and past.stored_at = key.past_at
    order by key.position ${order}`
}

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
  const { kind, table, deletable } = resource
  const { tableName, indexedBy, states } = dialect
  const filters = bySelectivity(resource, selection.anyOf)
  const [driver] = filters
  const listed = filters.map((filter) => ({
    filter,
    values: dialect.texts(filter.values, filter.column === 'id'),
  }))
  const then = (current: string, past: string) =>
    `case when record.stored_at <= ${at} then ${current} else ${past} end`
  const { low, high } = rangeOf(selection)
  const [from, before] = [dialect.bytes(low), dialect.bytes(high)]
  const inRange = (row: string) =>
    `${row}.position > ${from} and ${row}.position < ${before}
          and ${row}.position >= (select low from reached)
          and ${row}.position <= (select high from reached)`
  const conditions = [
    `(record.stored_at <= ${at} or past.stored_at is not null)`,
    ...(deletable && !selection.includeDeleted
      ? [`${then('record.deleted_at', 'past.deleted_at')} is null`]
      : []),
    ...listed
      .filter(({ filter }) => filter.column !== 'id')
      .map(({ filter: { column }, values }) =>
        dialect.isAnyOf(then(`record.${column}`, dialect.jsonMember('past.body', column)), values),
      ),
  ].join('\n          and ')
  const read = `select record.position, record.id, record.deleted,
          case when record.stored_at <= ${at} then null else past.stored_at end as past_at`
  const join = dialect.joinPast(kind, at)
  const stored = (index: string) => `${tableName(table)} as record ${index}`
  const page = `order by record.position ${order} limit ${size}`
  const ofState = (state: string) => `select * from (
          ${read}
          from ${stored('')} ${join}
          where record.customer_id = ${customer} and record.deleted = ${state}
          and ${inRange('record')} and ${conditions}
          ${page}) as candidate`
  const anyState = deletable ? [states.live, states.deleted] : [states.live]
  if (driver === undefined) return anyState.map(ofState)
  const former = formerOf(driver)
  if (namesOneRecord(driver)) {
    return [
      `${read}
          from ${dialect.valuesOf(listed[0]?.values ?? '')} 
          cross join ${stored(indexedBy(`${table}_by_${driver.column}`))} ${join}
          where record.customer_id = ${customer} and record.${driver.column} = entry.value
          and ${inRange('record')} and ${conditions}`,
      ...former,
    ]
  }
  const ofValue = (value: string) => `
          ${read}
          from ${stored(indexedBy(`${table}_by_${driver.column}`))} ${join}
          where record.customer_id = ${customer} and record.${driver.column} = ${value}
          and ${inRange('record')} and ${conditions}
          ${page}`
  return [dialect.forEach(driver.values, ofValue), ...former]

  /** The records that have lost a value of the filter since. */
  function formerOf({ column, values }: ColumnFilter): readonly string[] {
    if (column === 'id') return []
    const ofValue = (value: string) => `
          ${read}
          from ${tableName('former_value')} as former
          cross join ${stored('')} ${join}
          where former.customer_id = ${customer} and former.kind = '${kind}'
          and former.member = '${column}' and former.value = ${value} and former.until > ${at}
          and ${inRange('former')}
          and record.customer_id = ${customer} and record.deleted in (${anyState.join(', ')})
          and record.position = former.position and ${conditions}
          order by former.position ${order} limit ${size}`
    return [dialect.forEach(values, ofValue)]
  }
}
