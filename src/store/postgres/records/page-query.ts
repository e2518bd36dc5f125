import type { Tenant } from '../../../contract/principal.ts'
import type { Resource } from '../../../contract/resource.ts'
import { POSITION_BYTES } from '../../position.ts'
import type { Selection } from '../../records.ts'
import { bySelectivity, type ColumnFilter } from '../../sql/filter-order.ts'
import { rangeOf } from '../../sql/key-range.ts'
import { hexOf } from '../driver/cells.ts'
import { type Query, textArray, type Value } from '../driver/connection.ts'
import { LOG_POSITION, wallOf } from './row-security.ts'

/** Statements with more filters than this are planned each time: their combinations would fill a server's memory. */
const PREPARED_FILTERS_MAX = 2

/** A page of one customer's records, of those that the selection leaves. */
export type AskedPage = { readonly tenant: Tenant; readonly selection: Selection }

/** Whether the page is a stretch of the table's own order: several of those can share one statement. */
export const isStretch = ({ deletable }: Resource, { anyOf, reveal }: Selection): boolean =>
  anyOf.length === 0 && !(deletable && reveal)

/**
 * The statement that answers several pages that are stretches of the table, with the columns of pageQuery and one more:
 * which of those asked for a row is, from one. Each is read while the wall's setting names the customer who asked for it,
 * and nobody else.
 */
export function pagesQuery(
  resource: Resource,
  order: Selection['order'],
  asked: readonly AskedPage[],
): Query {
  const ranges = asked.map(({ selection }) => rangeOf(selection))
  return {
    text: `
      select ${answered}, asked.at::text
      from unnest($1::text[], $2::bytea[], $3::bytea[], $4::int[])
        with ordinality as asked (customer_id, low, high, page_size, at)
      cross join lateral ${wallOf('asked.customer_id')}
      cross join lateral (${stretch(resource, order, ofEach)}) as page
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
 * The statement that answers one page: the items, how many, the last position, whether more remain, the revision, and
 * where the log stood. One shape for each combination of filters, however many entries they have.
 *
 * As on the embedded store a page starts from one index: the table's own order where nothing is filtered, else the
 * index of the most selective filter, walked once for each of its entries and no further than a page.
 */
export function pageQuery(resource: Resource, { tenant, selection }: AskedPage): Query {
  const { low, high } = rangeOf(selection)
  const values: Value[] = [tenant, low, high, selection.limit]
  const arrayOf = ({ column, values: entries }: ColumnFilter): string => {
    const at = values.push(textArray(entries))
    return `$${at}::${column === 'id' ? 'uuid' : 'text'}[]`
  }
  const [driver, ...residual] = bySelectivity(resource, selection.anyOf)
  const page = isStretch(resource, selection)
    ? stretch(resource, selection.order, ofOne)
    : keyedPage(resource, selection.order, {
        // Live and deleted records lie in two stretches of the table, each in order.
        entries: driver === undefined ? 'array[false, true]' : arrayOf(driver),
        conditions: [
          `${driver === undefined ? 'deleted' : driver.column} = entry.value`,
          ...(selection.reveal ? [] : ['deleted = false']),
          ...residual.map((filter) => `${filter.column} = any(${arrayOf(filter)})`),
        ],
      })
  return {
    text: `
      select ${answered}
      from ${wallOf('$1')} cross join lateral (${page}) as page
      ${revisionOf(resource)}`,
    values,
    prepare: selection.anyOf.length <= PREPARED_FILTERS_MAX,
  }
}

/** Text, all of it: see `read` of connection.ts. */
const answered = `page.items, page.rows::text, page.last::text, page.more::text, revision.changed_at::text, ${LOG_POSITION}::text`

const revisionOf = ({ kind }: Resource): string => `
  left join lateral (
    select changed_at from bursar.revision
    where customer_id = wall.customer_id and kind = '${kind}' limit 1
  ) as revision on true`

const sortWords = { ASC: 'asc', DESC: 'desc' } as const
const beyond = { ASC: '>', DESC: '<' } as const

/** No aggregate picks the last of some bytes on every version; it is what the positions, put together, end with. */
const aggregates = (order: string): string => `
  string_agg(body, ','${order}) as items, count(*) as rows,
  substring(string_agg(position, ''::bytea${order}) from (count(*)::int - 1) * ${POSITION_BYTES} + 1) as last`

type Bounds = { readonly low: string; readonly high: string; readonly size: string }

const ofOne: Bounds = { low: '$2', high: '$3', size: '$4' }
const ofEach: Bounds = { low: 'asked.low', high: 'asked.high', size: 'asked.page_size' }

/** One walk along the table's key. The aggregate takes rows in the order in which its limited subquery hands them over. */
function stretch(
  { table }: Resource,
  order: Selection['order'],
  { low, high, size }: Bounds,
): string {
  const live = `from bursar.${table} where customer_id = wall.customer_id and deleted = false
    and position > ${low} and position < ${high}`
  return `
    select items, rows, last,
      rows = ${size} and exists (select 1 ${live} and position ${beyond[order]} last) as more
    from (
      select ${aggregates('')}
      from (select body, position ${live} order by position ${sortWords[order]} limit ${size}) as record
    ) as page`
}

type Branches = { readonly entries: string; readonly conditions: readonly string[] }

/** Keys from the branches first, one more than the page to know whether rows remain; bodies only for the page. */
function keyedPage(
  { table }: Resource,
  order: Selection['order'],
  { entries, conditions }: Branches,
): string {
  const ordered = `order by position ${sortWords[order]}`
  return `
    with keys as materialized (
      select branch.deleted, branch.position
      from unnest(${entries}) as entry (value) cross join lateral (
        select deleted, position from bursar.${table}
        where customer_id = wall.customer_id and position > $2 and position < $3 and ${conditions.join(' and ')}
        ${ordered} limit $4::int + 1
      ) as branch
      ${ordered} limit $4::int + 1
    )
    select ${aggregates(` ${ordered}`)}, (select count(*) from keys) > $4 as more
    from (select deleted, position from keys ${ordered} limit $4) as key
    cross join lateral (
      select body from bursar.${table}
      where customer_id = wall.customer_id and deleted = key.deleted and position = key.position
      limit 1
    ) as record`
}
