import type { Resource } from '../../contract/resource.ts'
import { bySelectivity, type ColumnFilter } from '../filter-order.ts'
import { POSITION_BYTES, rangeOf } from '../keyset.ts'
import type { Selection } from '../store.ts'
import { type Query, textArray, type Value } from './connection.ts'
import { LOG_POSITION, wallOf } from './wall.ts'

/** Statements with more filters than this are planned each time: their combinations would fill a server's memory. */
const PREPARED_FILTERS_MAX = 2

/**
 * The statement that answers a page: one shape for each combination of filters, however many entries they have.
 *
 * As on the embedded store a page starts from one index: the table's own order where nothing is filtered, else the
 * index of the most selective filter, walked once for each of its entries and no further than a page. The one row
 * holds the items, how many, the last position, whether more remain, the revision, and where the log stood.
 */
export function pageQuery(resource: Resource, tenant: string, selection: Selection): Query {
  const { low, high } = rangeOf(selection)
  const values: Value[] = [tenant, low, high, selection.limit]
  const arrayOf = ({ column, values: entries }: ColumnFilter): string => {
    const at = values.push(textArray(entries))
    return `$${at}::${column === 'id' ? 'uuid' : 'text'}[]`
  }
  const [driver, ...residual] = bySelectivity(resource, selection.anyOf)
  const hasEntries = driver !== undefined
  const page =
    !hasEntries && !(resource.deletable && selection.reveal)
      ? clusteredPage(resource, selection.order)
      : keyedPage(resource, selection.order, {
          // Live and deleted records lie in two stretches of the table, each in order.
          entries: hasEntries ? arrayOf(driver) : 'array[false, true]',
          conditions: [
            `${hasEntries ? driver.column : 'deleted'} = entry.value`,
            ...(selection.reveal ? [] : ['deleted = false']),
            ...residual.map((filter) => `${filter.column} = any(${arrayOf(filter)})`),
          ],
        })
  return {
    text: `
      select page.items, page.rows, page.last, page.more, revision.changed_at, ${LOG_POSITION}
      from ${wallOf('$1')} cross join lateral (${page}) as page
      left join lateral (
        select changed_at from bursar.revision
        where customer_id = wall.customer_id and kind = '${resource.kind}' limit 1
      ) as revision on true`,
    values,
    prepare: selection.anyOf.length <= PREPARED_FILTERS_MAX,
  }
}

const inRange = 'position > $2 and position < $3'
const sortWords = { ASC: 'asc', DESC: 'desc' } as const
const beyond = { ASC: '>', DESC: '<' } as const

/** No aggregate picks the last of some bytes on every version; it is what the positions, put together, end with. */
const aggregates = (order: string): string => `
  string_agg(body, ','${order}) as items, count(*) as rows,
  substring(string_agg(position, ''::bytea${order}) from (count(*)::int - 1) * ${POSITION_BYTES} + 1) as last`

/** One walk along the table's key. The aggregate takes rows in the order in which its limited subquery hands them over. */
function clusteredPage({ table }: Resource, order: Selection['order']): string {
  const live = `from bursar.${table} where customer_id = wall.customer_id and deleted = false and ${inRange}`
  return `
    select items, rows, last,
      rows = $4 and exists (select 1 ${live} and position ${beyond[order]} last) as more
    from (
      select ${aggregates('')}
      from (select body, position ${live} order by position ${sortWords[order]} limit $4) as record
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
        where customer_id = wall.customer_id and ${inRange} and ${conditions.join(' and ')}
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
