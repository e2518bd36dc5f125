import assert from 'node:assert/strict'
import type { Resource } from '@bursar/contract'
import {
  bySelectivity,
  type ColumnFilter,
  filterValue,
  lastChange,
  namesOneRecord,
  ownerWith,
  type Selection,
} from '@bursar/records'
import { dialect } from '../dialect.ts'

/**
 * Reads one page. The text depends on the filters only, so it is prepared once for each
 * combination. A page scans one index: the primary key where nothing is filtered, else the index of
 * the most selective filter. An id or a `ref_id` names at most one record, so one branch looks all
 * of them up. Any other column has one branch for each of its values. A branch stops after a page,
 * so the work is at most page size times values. Other filters apply row by row inside the
 * branches.
 */
export type PageQuery = {
  readonly sql: string
  /** Named parameters besides customer, low, high and limit. */
  readonly parameters: Readonly<Record<string, string | null>>
  /** Whether the page is one range of the primary key. */
  readonly isRange: boolean
}

/** Statements are prepared for these numbers of branches. A branch without a value gets null. */
const branchCounts = [1, 2, 4, 8, 16, 32, 64, 128]

export function pageQuery(resource: Resource, selection: Selection): PageQuery {
  const { order } = selection
  const [driver, ...residual] = bySelectivity(resource, selection.anyOf)
  if (driver === undefined && !(resource.deletable && selection.includeDeleted)) {
    return { sql: clusteredPage(resource, order), parameters: {}, isRange: true }
  }
  const conditions = residual.map(
    ({ column }, at) =>
      `${filterValue(resource, dialect, { row: resource.table }, column)} in (select value from json_each(:residual${at}))`,
  )
  if (!selection.includeDeleted && driver !== undefined) conditions.push('deleted = 0')
  const branches =
    driver === undefined
      ? bothStates(resource)
      : namesOneRecord(driver)
        ? lookUps(resource, driver)
        : branchesOf(resource, driver)
  return {
    sql: keyedPage(resource, order, branches.sources, conditions),
    isRange: false,
    parameters: {
      ...branches.parameters,
      ...Object.fromEntries(
        residual.map(({ values }, at) => [`residual${at}`, JSON.stringify(values)]),
      ),
    },
  }
}

type Branches = {
  readonly sources: readonly string[]
  readonly parameters: Readonly<Record<string, string | null>>
}

const { is } = dialect.listedId

/**
 * The number of the tenant. A damaged entry of the index of customers may lead to another one, so
 * the id in the table is compared too: rows of a list are not compared with their customer.
 */
const tenant = `(select customer.number
  from customer as entry cross join customer on customer.number = entry.number
  where entry.id = :customer and customer.id = :customer)`

/** One branch for up to 1,000 values: SQLite joins 500 selects at most, and slowly. */
const lookUps = ({ table }: Resource, { column, values }: ColumnFilter): Branches => ({
  sources: [
    `(select value as entry from json_each(:entries)) cross join ${table} indexed by ${table}_by_${column} where customer = ${tenant} and ${column === 'id' ? is(table, 'entry') : `${column} = entry`}`,
  ],
  parameters: { entries: JSON.stringify(values) },
})

function branchesOf({ table }: Resource, { column, values }: ColumnFilter): Branches {
  const count = branchCounts.find((size) => size >= values.length)
  assert(count !== undefined, `a filter on ${column} has at most 128 entries`)
  const entries = Array.from({ length: count }, (_, at) => values[at] ?? null)
  return {
    sources: entries.map(
      (_, at) =>
        `${table} indexed by ${table}_by_${column} where customer = ${tenant} and ${column} = :entry${at}`,
    ),
    parameters: Object.fromEntries(entries.map((entry, at) => [`entry${at}`, entry])),
  }
}

/** The primary key holds live and deleted records as two ranges, each in order. */
const bothStates = ({ table }: Resource): Branches => ({
  sources: [0, 1].map((state) => `${table} where customer = ${tenant} and deleted = ${state}`),
  parameters: {},
})

/** An expression, because SQLite prepares a statement again for each value of a bare LIMIT. */
const pageSize = ':limit + 0'

const revisionOf = (kind: string): string =>
  `(select ${lastChange} from revision where customer = ${tenant} and kind = '${kind}') as revision,
    ${ownerWith(dialect, tenant)} as owner`

const inRange = 'position > :low and position < :high'

const sortWords = { ASC: 'asc', DESC: 'desc' } as const
const lastOf = { ASC: 'max', DESC: 'min' } as const
const beyond = { ASC: '>', DESC: '<' } as const

/** One range of the primary key. Sorting the subquery is cheaper than sorting in group_concat. */
function clusteredPage({ table, kind }: Resource, order: Selection['order']): string {
  const live = `from ${table} where customer = ${tenant} and deleted = 0`
  return `
    select items, rows, last, rows = :limit and exists (
      select 1 ${live} and ${inRange} and position ${beyond[order]} last
    ) as more, ${revisionOf(kind)}
    from (
      select cast(group_concat(body) as blob) as items, count(*) as rows, ${lastOf[order]}(position) as last
      from (
        select body, position ${live} and ${inRange}
        order by position ${sortWords[order]} limit ${pageSize}
      )
    )`
}

/** Reads keys, one more than the page to know whether records remain; then the page's bodies. */
function keyedPage(
  { table, kind }: Resource,
  order: Selection['order'],
  sources: readonly string[],
  conditions: readonly string[],
): string {
  const where = [inRange, ...conditions].join(' and ')
  const ordered = `order by position ${sortWords[order]}`
  const branches = sources.map(
    (source) =>
      `select * from (select deleted, position from ${source} and ${where} ${ordered} limit :limit + 1)`,
  )
  return `
    with keys as materialized (
      ${branches.join('\n      union all\n      ')}
      ${ordered} limit :limit + 1
    )
    select cast(group_concat(body) as blob) as items, count(*) as rows, ${lastOf[order]}(position) as last,
      (select count(*) from keys) > :limit as more, ${revisionOf(kind)}
    from (
      select r.body, r.position
      from (select deleted, position from keys ${ordered} limit ${pageSize}) as k
      cross join ${table} as r
      where r.customer = ${tenant} and r.deleted = k.deleted and r.position = k.position
    )`
}
