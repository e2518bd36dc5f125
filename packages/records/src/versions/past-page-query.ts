import assert from 'node:assert/strict'
import { fullTable, isKeyedKind, isSealedKind, type Resource } from '@bursar/contract'
import { type Dialect, openParameters, type Parameters } from '../dialect.ts'
import { isKeyedInClear } from '../integrity/checksum.ts'
import type { PastSelection } from '../records/history.ts'
import { bySelectivity, namesOneRecord, rangeOf } from '../records/page.ts'
import { customerNumber, ownerWith } from '../schema/customers.ts'
import { filterValue } from '../schema/tables.ts'
import type { Statement } from '../session.ts'

/**
 * Reads a page that was answered at an instant, and one record more, as one row: see
 * `pageColumns`. A record is a candidate if it has, or
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
  const { order, includeDeleted, anyOf } = selection
  const page: PastPage = {
    resource,
    view,
    dialect,
    order,
    includeDeleted,
    customer,
    at,
    low: add(low, 'bytea'),
    high: add(high, 'bytea'),
    size: `${add(selection.limit, 'bigint')} + 1`,
  }
  const text = anyOf.length === 0 ? pastRange(page) : keyedPage({ ...page, anyOf, parameters })
  const prepare = anyOf.length <= PREPARED_FILTERS_MAX
  return { text, values: parameters.values, prepare }
}

/** Statements with more filters are planned each time; all combinations would fill the memory. */
const PREPARED_FILTERS_MAX = 1

export type PastView = 'customer' | 'full'

/** A page, and how its statement names what it compares with. */
export type PastPage = Pick<PastSelection, 'order' | 'includeDeleted'> & {
  readonly resource: Resource
  readonly view: PastView
  readonly dialect: Dialect
  /** The number of the customer. */
  readonly customer: string
  readonly at: string
  /** The range of positions, without its ends. */
  readonly low: string
  readonly high: string
  /** One record more than the page. */
  readonly size: string
}

type KeyedPage = PastPage &
  Pick<PastSelection, 'anyOf'> & {
    readonly parameters: Parameters
  }

/**
 * Walks the order of the customer, and takes each record's version of the time on the way. With
 * `visitsMax` it walks over so many records at most in each state. Then `is_cut` tells whether
 * records after those may belong to the page.
 */
export function pastRange(asked: PastPage, visitsMax?: string): string {
  const { resource, view, dialect, customer, at, size } = asked
  const { kind } = resource
  const { tableName, joinPast, bounded, listedId } = dialect
  const shown = shownTable(resource, view)
  const isApart = shown !== resource.table
  const whole = isApart
    ? `left join ${tableName(shown)} as whole on record.stored_at <= ${at}
          and whole.customer = record.customer and whole.id = ${listedId.of('record')}`
    : ''
  const current = isApart ? 'whole' : 'record'
  const content = contentOf(asked, `record.stored_at <= ${at}`, current)
  const ordered = `order by position ${direction(asked)}`
  const table = `${tableName(resource.table)} as record`
  const walked = (state: string) =>
    `record.customer = ${customer} and record.deleted = ${state} and ${inRange('record', asked)}`
  const ofState = (state: string) => {
    const select = (from: string, where: readonly string[]) => `
      select record.position, ${content}
      from ${from} ${joinPast(kind, at)} ${whole}
      where ${where.join('\n        and ')}`
    if (visitsMax === undefined) return select(table, [walked(state), ...conditionsOf(asked)])
    const visited = `select * from ${table} where ${walked(state)} ${ordered} limit ${visitsMax}`
    return select(`(${visited}) as record`, conditionsOf(asked))
  }
  const states = statesOf(dialect)
  const more = states.map(
    (state) => `exists (select 1 from ${table} where ${walked(state)} offset ${visitsMax})`,
  )
  const isCut =
    visitsMax === undefined
      ? ''
      : `, case when count(*) < ${size} then ${more.join(' or ')} else false end as is_cut`
  const page = `${ordered} limit ${size}`
  return `
    with ${reached(asked)}
    select ${pageColumns(asked)} ${isCut}
    from (
      ${states.map((state) => bounded(ofState(state), page)).join('\n      union all')}
      ${page}
    ) as page`
}

/** Reads keys, one more than the page, by the values of a filter; then the bodies of the page. */
function keyedPage(asked: KeyedPage): string {
  const { resource, view, dialect, customer, size } = asked
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
      order by position ${direction(asked)} limit ${size}
    )
    select ${pageColumns(asked)}
    from (
      select key.position, ${contentOf(asked, 'key.past_row is null', 'current')}
      from key
      left join ${tableName(shown)} as current
        on current.customer = ${customer} and ${ofKey} and key.past_row is null
      left join ${tableName('history')} as past on past.${rowName} = key.past_row
      order by key.position ${direction(asked)}
    ) as page`
}

const direction = ({ order }: PastPage): string => (order === 'ASC' ? 'asc' : 'desc')

/** The table that has the current bodies of a view. */
const shownTable = (resource: Resource, view: PastView): string =>
  view === 'full' ? fullTable(resource) : resource.table

/**
 * The column `body` of the version of the time, and the `checksum` of a replaced one, or of each
 * one that takes a key.
 */
function contentOf({ resource, view }: PastPage, isCurrent: string, current: string): string {
  const isMasked = view === 'customer' && resource.mask !== undefined
  const [body, checksum] = isMasked ? ['masked', 'masked_checksum'] : ['body', 'checksum']
  const ofCurrent = showsKeyed(resource, view) ? `${current}.checksum` : 'null'
  return `
        case when ${isCurrent} then ${current}.body else past.${body} end as body,
        case when ${isCurrent} then ${ofCurrent} else past.${checksum} end as checksum`
}

/** The column of a replaced version whose JSON has the members that lists are filtered by. */
const bodyWithMembers = (resource: Resource): 'masked' | 'body' =>
  isSealedKind(resource) ? 'masked' : 'body'

/** Whether it takes a key to open the bodies of a page, or to compare them. */
export const showsKeyed = (resource: Resource, view: PastView): boolean =>
  view === 'full' ? isKeyedKind(resource) : isKeyedInClear(resource)

/** `kept_since` is read with the page, so that no pruning falls between the two. */
function pageColumns({ resource, view, dialect, customer }: PastPage): string {
  const { kind } = resource
  const { joined, longText, lastPositions, tableName, hex } = dialect
  const positions = showsKeyed(resource, view)
    ? `${joined(hex('position'), ',')} as positions,`
    : ''
  return `
      ${positions}
      ${longText(joined('body', ','))} as items, count(*) as found, count(body) as bodies,
      ${lastPositions} as last_positions, count(checksum) as replaced,
      ${joined(`coalesce(cast(checksum as text), '')`, ',')} as checksums,
      ${joined('octet_length(body)', ',')} as lengths,
      ${ownerWith(dialect, customer)} as owner,
      (select at from ${tableName('kept_since')}
        where customer = ${customer} and kind = '${kind}') as kept_since`
}

/** The bounds of the positions that the customer had then. */
const reached = ({ resource: { kind }, dialect: { tableName }, customer, at }: PastPage): string =>
  `reached as materialized (
      select low, high from ${tableName('extent')}
      where customer = ${customer} and kind = '${kind}' and changed_at <= ${at}
      order by changed_at desc limit 1
    )`

/** A record that is deleted or withdrawn now may not have been then. */
const statesOf = ({ boolean }: Dialect) => [false, true].map(boolean)

const inRange = (row: string, { low, high }: PastPage): string =>
  `${row}.position > ${low} and ${row}.position < ${high}
        and ${row}.position >= (select low from reached)
        and ${row}.position <= (select high from reached)`

/** A member of the version of the time. */
const then = (at: string, current: string, past: string): string =>
  `case when record.stored_at <= ${at} then ${current} else ${past} end`

/** The record was stored then, and was not deleted or withdrawn unless the query includes those. */
const conditionsOf = ({ includeDeleted, at }: PastPage): readonly string[] => [
  `(record.stored_at <= ${at} or past.stored_at is not null)`,
  ...(includeDeleted ? [] : [`${then(at, 'record.deleted_at', 'past.deleted_at')} is null`]),
]

/** The queries of a page's keys: by the values of records, and by those that they have lost. */
function candidates(asked: KeyedPage): readonly string[] {
  const { resource, anyOf, dialect, parameters, customer, at, size } = asked
  const { kind, table } = resource
  const { tableName, indexedBy, isAnyOf, jsonMember, joinPast, pastRow, listedId } = dialect
  const filters = bySelectivity(resource, anyOf).map((filter) => ({
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
        // A sealed body shows no member, and the masked one has every member with a filter.
        const past = jsonMember(`past.${bodyWithMembers(resource)}`, filter.column)
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
    const page = `order by ${row}.position ${direction(asked)} limit ${size}`
    const { list, values } = filter
    return dialect.forEach(list, values.length, (value) => `${select(value)} ${page}`)
  }
  // No record loses its id.
  return (column === 'id' ? [stored] : [stored, lost]).map(keysOf)
}
