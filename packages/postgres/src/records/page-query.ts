import type { Resource, Tenant } from '@bursar/contract'
import {
  bySelectivity,
  type ColumnFilter,
  filterValue,
  lastChange,
  namesOneRecord,
  ownerWith,
  POSITION_BYTES,
  rangeOf,
  type Selection,
  type Statement,
  type Value,
} from '@bursar/records'
import { dialect } from '../dialect.ts'
import { hexOf, textArray } from '../driver/connection.ts'

/** Statements with more filters are planned each time; all combinations would fill the memory. */
const PREPARED_FILTERS_MAX = 2

/** A page that a tenant has requested. */
export type AskedPage = { readonly tenant: Tenant; readonly selection: Selection }

/** Whether the page is one range of the primary key. Several of those can share a statement. */
export const isRange = ({ deletable }: Resource, { anyOf, includeDeleted }: Selection): boolean =>
  anyOf.length === 0 && !(deletable && includeDeleted)

/**
 * Reads several pages, each one range of the primary key, while the setting of row-level security
 * names its tenant. Adds the page's number in the batch, from 1, to the columns of pageQuery.
 */
export function pagesQuery(
  resource: Resource,
  order: Selection['order'],
  asked: readonly AskedPage[],
): Statement {
  const ranges = asked.map(({ selection }) => rangeOf(selection))
  return {
    text: `
      select ${columns}, request.at::text
      from unnest($1::text[], $2::bytea[], $3::bytea[], $4::int[])
        with ordinality as request (customer_id, low, high, page_size, at)
      cross join lateral ${tenantSetting('request.customer_id')}
      cross join lateral (${rangePage(resource, order, ofEach)}) as page
      ${revisionOf(resource)}`,
    values: [
      textArray(asked.map(({ tenant }) => tenant)),
      textArray(ranges.map(({ low }) => hexOf(low))),
      textArray(ranges.map(({ high }) => hexOf(high))),
      textArray(asked.map(({ selection }) => String(selection.limit))),
    ],
    prepare: true,
  }
}

/**
 * Reads one page. The text depends on the filters, not on their values. As on SQLite, a page scans
 * one index: the primary key if nothing is filtered, else the index of the most selective filter.
 * It scans that index once for each value of the filter, and no further than a page. An id or a
 * `ref_id` names at most one record, so the other conditions apply to what was found.
 */
export function pageQuery(resource: Resource, { tenant, selection }: AskedPage): Statement {
  const { order } = selection
  const { low, high } = rangeOf(selection)
  const values: Value[] = [tenant, low, high, selection.limit]
  const columnOf = (column: string) =>
    filterValue(resource, dialect, { row: resource.table }, column)
  const arrayOf = ({ column, values: entries }: ColumnFilter): string => {
    const at = values.push(textArray(entries))
    return `$${at}::${column === 'id' ? 'uuid' : 'text'}[]`
  }
  const [driver, ...residual] = bySelectivity(resource, selection.anyOf)
  const isKey = driver !== undefined && namesOneRecord(driver)
  const page = isRange(resource, selection)
    ? rangePage(resource, order, ofOne)
    : keyedPage(resource, order, {
        // The primary key holds live and deleted records as two ranges, each in order.
        entries: driver === undefined ? 'array[false, true]' : arrayOf(driver),
        column: driver === undefined ? 'deleted' : driver.column,
        isKey,
        residual: residual.map(({ column }) => `${columnOf(column)} as ${column}`),
        conditions: [
          ...(selection.includeDeleted ? [] : ['deleted = false']),
          ...residual.map((filter) => {
            const value = isKey ? filter.column : columnOf(filter.column)
            return `${value} = any(${arrayOf(filter)})`
          }),
        ],
      })
  return {
    text: `
      select ${columns}
      from ${tenantSetting('$1')} cross join lateral (${page}) as page
      ${revisionOf(resource)}`,
    values,
    prepare: selection.anyOf.length <= PREPARED_FILTERS_MAX,
  }
}

/**
 * Sets the tenant of row-level security for this transaction, its id and then its number, and
 * returns the number as the row `tenant`, which look-ups join laterally. A tenant without records
 * has none, and sees nothing. If a batch asks for the same tenant again, the settings stay. `offset
 * 0` here and a limit in each look-up keep the planner from reading records first. If it did, the
 * policy would hide them: it fails closed.
 */
export const tenantSetting = (customerId: string): string => `
      (select case when current_setting('bursar.customer_id', true) is distinct from ${customerId}
        then set_config('bursar.customer_id', ${customerId}, true) end as id offset 0) as named
      cross join lateral (
        select nullif(case when named.id is null then current_setting('bursar.customer', true)
          else set_config('bursar.customer', coalesce(${number}, ''), true) end, '')::integer
          as customer offset 0
      ) as tenant`

/** The policy of table `customer` shows the customer that `named` has set, and no other. */
const number = `(select number::text from bursar.customer where id = named.id)`

/** The driver reads every column as text. */
const columns = `page.items, page.rows::text, page.last::text, page.more::text, revision.last,
  ${ownerWith(dialect, 'tenant.customer')}`

const revisionOf = ({ kind }: Resource): string => `
  left join lateral (
    select ${lastChange} as last from bursar.revision
    where customer = tenant.customer and kind = '${kind}' limit 1
  ) as revision on true`

const sortWords = { ASC: 'asc', DESC: 'desc' } as const
const beyond = { ASC: '>', DESC: '<' } as const

/** PostgreSQL 15 has no maximum of bytea, so this cuts the last of the joined positions off. */
const aggregates = (order: string): string => `
  string_agg(body, ','${order}) as items, count(*) as rows,
  substring(string_agg(position, ''::bytea${order}) from (count(*)::int - 1) * ${POSITION_BYTES} + 1) as last`

type Bounds = { readonly low: string; readonly high: string; readonly size: string }

const ofOne: Bounds = { low: '$2', high: '$3', size: '$4' }
const ofEach: Bounds = { low: 'request.low', high: 'request.high', size: 'request.page_size' }

/** One range of the primary key. The aggregate takes rows in the order of its subquery. */
function rangePage(
  { table }: Resource,
  order: Selection['order'],
  { low, high, size }: Bounds,
): string {
  const live = `from bursar.${table} where customer = tenant.customer and deleted = false
    and position > ${low} and position < ${high}`
  return `
    select items, rows, last,
      rows = ${size} and exists (select 1 ${live} and position ${beyond[order]} last) as more
    from (
      select ${aggregates('')}
      from (select body, position ${live} order by position ${sortWords[order]} limit ${size}) as record
    ) as page`
}

type Branches = {
  readonly entries: string
  readonly column: string
  readonly isKey: boolean
  readonly residual: readonly string[]
  readonly conditions: readonly string[]
}

/** Reads keys, one more than the page to know whether records remain; then the page's bodies. */
function keyedPage(
  { table }: Resource,
  order: Selection['order'],
  { entries, column, isKey, residual, conditions }: Branches,
): string {
  const ordered = `order by position ${sortWords[order]}`
  const matches = `from bursar.${table} where customer = tenant.customer and ${column} = entry.value`
  const inPage = ['position > $2', 'position < $3', ...conditions].join(' and ')
  // With a range inside, the planner may scan the customer's whole range for each id.
  const branch = isKey
    ? `select ${['deleted', 'position', ...residual].join(', ')} ${matches} limit 1`
    : `select deleted, position ${matches} and ${inPage} ${ordered} limit $4::int + 1`
  return `
    with keys as materialized (
      select branch.deleted, branch.position
      from unnest(${entries}) as entry (value) cross join lateral (${branch}) as branch
      ${isKey ? `where ${inPage}` : ''}
      ${ordered} limit $4::int + 1
    )
    select ${aggregates(` ${ordered}`)}, (select count(*) from keys) > $4 as more
    from (select deleted, position from keys ${ordered} limit $4) as key
    cross join lateral (
      select body from bursar.${table}
      where customer = tenant.customer and deleted = key.deleted and position = key.position
      limit 1
    ) as record`
}
