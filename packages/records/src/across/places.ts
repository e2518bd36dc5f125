import type { Resource } from '@bursar/contract'
import { type Dialect, openParameters, type Parameters } from '../dialect.ts'
import { timePrefix } from '../position.ts'
import type { AcrossSelection, ByTerm, InOrder } from '../records/across.ts'
import { customerNumber } from '../schema/customers.ts'
import { termTable } from '../schema/tables.ts'
import type { Statement } from '../session.ts'

/**
 * Selects the places of live records in the order of their kind, each status by one range of an
 * index. That of one customer begins with the customer, so the work tells nothing of the others.
 */
export function placesInOrder(
  resource: Resource,
  selection: InOrder,
  rowsMax: number,
  dialect: Dialect,
  storedAt = NONE,
): Statement {
  const { table } = resource
  const { customerId, order, from, until, after } = selection
  const { tableName, indexedBy } = dialect
  const parameters = openParameters(dialect)
  const { add } = parameters
  const isOfAll = customerId === undefined
  const bounds = boundsOf(order, {
    low: from === undefined ? undefined : () => `position >= ${add(timePrefix(from), 'bytea')}`,
    high: until === undefined ? undefined : () => `position < ${add(timePrefix(until), 'bytea')}`,
    past: after && ((than) => `position ${than} ${add(after.position, 'bytea')}`),
  })
  const owner = isOfAll ? 'stored_at >= 0' : `customer = ${numberOf(customerId, add, dialect)}`
  const ranges = statusesOf(resource, selection).map((status) => {
    const index = isOfAll
      ? `${table}_of_all`
      : status === undefined
        ? undefined
        : `${table}_by_status`
    const ofStatus = status === undefined ? [] : [`status = ${add(status, 'text')}`]
    const conditions = [owner, ...ofStatus, 'deleted = false', ...bounds]
    return `select customer, position, '' as sort, ${storedAt} as since
        from ${tableName(table)} ${index === undefined ? '' : indexedBy(index)}
        where ${conditions.join(' and ')} order by position ${order} limit ${rowsMax}`
  })
  return joined(ranges, `position ${order}`, rowsMax, parameters)
}

const NONE = 'cast(null as bigint)'

/** The same in the order of a term. */
export function placesByTerm(
  resource: Resource,
  selection: ByTerm,
  rowsMax: number,
  dialect: Dialect,
): Statement {
  const { customerId, order, after, start, term } = selection
  const parameters = openParameters(dialect)
  const { add } = parameters
  const scope = customerId === undefined ? '0' : numberOf(customerId, add, dialect)
  const bounds = boundsOf(order, {
    low: () => `sort >= ${add(start, 'text')}`,
    high: () => `sort < ${add(start + AFTER_DIGITS, 'text')}`,
    past:
      after &&
      ((than) =>
        `(sort, position) ${than} (${add(start + after.sort, 'text')}, ${add(after.position, 'bytea')})`),
  })
  const ranges = statusesOf(resource, selection).map((status = '') => {
    const isTerm = `term = ${add(`${resource.terms?.letter}${term(status)}`, 'text')}`
    return `select customer, position, sort, since from ${dialect.tableName(termTable)}
        where ${[isTerm, `scope = ${scope}`, ...bounds].join(' and ')}
        order by sort ${order}, position ${order} limit ${rowsMax}`
  })
  return joined(ranges, `sort ${order}, position ${order}`, rowsMax, parameters)
}

/** Selects the first place of a term after a text. */
export function nextPlace(
  { terms }: Resource,
  asked: {
    readonly term: string
    readonly customerId: string | undefined
    readonly after: string
  },
  dialect: Dialect,
): Statement {
  const { add, values } = openParameters(dialect)
  const scope = asked.customerId === undefined ? '0' : numberOf(asked.customerId, add, dialect)
  const text = `select sort from ${dialect.tableName(termTable)}
      where term = ${add(`${terms?.letter}${asked.term}`, 'text')} and scope = ${scope}
        and sort > ${add(asked.after, 'text')} order by sort limit 1`
  return { text, values, prepare: true }
}

/** The places of a term have digits after their start. */
export const AFTER_DIGITS = ':'

type Bounds = {
  readonly low: (() => string) | undefined
  readonly high: (() => string) | undefined
  readonly past: ((than: '<' | '>') => string) | undefined
}

/**
 * The bounds of a range. A place takes the part of the bound where the range begins: a scan with
 * two bounds there could begin at the outer one, and compare all that earlier pages have shown.
 */
function boundsOf(order: 'ASC' | 'DESC', { low, high, past }: Bounds): readonly string[] {
  const [first, last] = order === 'ASC' ? [low, high] : [high, low]
  const begin = past === undefined ? first?.() : past(order === 'ASC' ? '>' : '<')
  return [begin, last?.()].filter((bound) => bound !== undefined)
}

const numberOf = (customerId: string, add: Parameters['add'], dialect: Dialect): string =>
  customerNumber(dialect, add(customerId, 'text'))

/** A kind has no range for all statuses, except that of one customer. */
const statusesOf = (
  { statuses }: Resource,
  { status, ...selection }: AcrossSelection,
): readonly (string | undefined)[] => {
  if (status !== undefined) return [status]
  const isInOrderOfCustomer = selection.customerId !== undefined && !('term' in selection)
  return statuses.length === 0 || isInOrderOfCustomer ? [undefined] : statuses
}

/** Merges ranges that are bounded each, so that no more than that is read. */
function joined(
  ranges: readonly string[],
  order: string,
  rowsMax: number,
  { values }: Parameters,
): Statement {
  const [only = ''] = ranges
  if (ranges.length === 1) return { text: only, values, prepare: true }
  const all = ranges.map((range) => `select * from (${range}) as one`).join('\n      union all ')
  const text = `select * from (${all}) as place order by ${order} limit ${rowsMax}`
  return { text, values, prepare: true }
}
