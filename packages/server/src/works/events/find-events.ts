import {
  type BoundOperator,
  type Instant,
  intersection,
  limitsOf,
  rangeOfBound,
  type TimeRange,
} from '@bursar/base'
import {
  contractLimits,
  kindOfType,
  kindsOfScopes,
  type Principal,
  type Tenant,
  type WorkInput,
} from '@bursar/contract'
import {
  allNumbers,
  type EventPlace,
  type EventRange,
  eventPlaceOf,
  placeAfter,
  type Store,
  type StoredEvent,
} from '@bursar/records'
import { describeEvent } from './describe-event.ts'

const limits = limitsOf({
  /** Events that one page of a filtered feed compares at most: about two milliseconds. */
  eventsComparedMax: 5000,
})

/**
 * All that a page of events depends on, as plain values: requests with equal queries share a read
 * (`shared-reads.ts`), also those of different clients of a customer.
 */
export type EventsQuery = {
  readonly tenant: Tenant
  /** Reads from the primary, since a replica may not have the newest events yet. */
  readonly isFresh: boolean
  readonly kinds: ReadonlySet<string>
  /** Undefined for every type of these kinds. */
  readonly types: ReadonlySet<string> | undefined
  /** When the events were stored. */
  readonly times: TimeRange
  readonly order: 'ASC' | 'DESC'
  readonly after: EventPlace | undefined
  readonly limit: number
}

export type FoundEvents = {
  /** The events as they are answered. */
  readonly items: readonly object[]
  readonly more: boolean
  /** The first and the last event that was compared, whether or not it matches. */
  readonly first: EventPlace | undefined
  readonly last: EventPlace | undefined
  readonly changes: bigint
  readonly pruned: bigint
}

/**
 * Reads a page. With a filter it compares a bounded number of events, by an index that has their
 * types. Where few of them match, the next page goes on after the last of them.
 */
export async function findEvents(
  { customers }: Pick<Store, 'customers'>,
  query: EventsQuery,
): Promise<FoundEvents> {
  const { tenant, isFresh, kinds, types, times, order, after, limit } = query
  const reader = customers.events(tenant, isFresh)
  const isBounded = times.from !== undefined || times.before !== undefined
  const isFiltered = (types !== undefined || isBounded) && kinds.size > 0
  // Anew for each read: what is stored meanwhile may be in it.
  const range = isBounded && isFiltered ? await reader.rangeOf(kinds, times) : undefined
  const compared = isFiltered
    ? await reader.stretch({ kinds, order, after, range, limit: limits.eventsComparedMax })
    : undefined
  const isCut = compared?.events === limits.eventsComparedMax
  const page = await reader.page({
    kinds,
    order,
    after,
    // What is stored after the stretch was read counts in `changes`, so the page may have it.
    range: isCut ? rangeTo(compared.last, order, range) : range,
    filter: isFiltered ? { types, times } : undefined,
    limit,
  })
  const { events, changes, pruned, secret } = page
  const placeOf = (event: StoredEvent | undefined) =>
    event && placeAfter(event, after?.pruned ?? pruned)
  const sign = order === 'ASC' ? 1n : -1n
  const inOrder = [compared?.first, compared?.last, events[0], events.at(-1)]
    .filter((event) => event !== undefined)
    .toSorted((one, other) => Number(sign * (one.change - other.change)))
  return {
    items: events.map((event) => describeEvent(event, secret)),
    more: page.more || isCut,
    first: placeOf(inOrder[0]),
    last: placeOf(page.more ? events.at(-1) : inOrder.at(-1)) ?? after,
    changes,
    pruned,
  }
}

/** The part of a range up to an event in the order. */
const rangeTo = (
  { change }: Pick<StoredEvent, 'change'>,
  order: EventsQuery['order'],
  range: EventRange = allNumbers,
): EventRange => (order === 'ASC' ? { ...range, high: change } : { ...range, low: change - 1n })

/** What a reader has found whose time was over before its first read began. */
export const nothingAfter = ({ after }: EventsQuery): FoundEvents => ({
  items: [],
  more: false,
  first: undefined,
  last: after,
  changes: 0n,
  pruned: 0n,
})

/**
 * Where a reader goes on. In DESC order it is after the newest event of the page, since older ones
 * do not come after it.
 */
export function resumeOf(
  { order, after }: EventsQuery,
  { first, last, pruned }: FoundEvents,
): EventPlace {
  return (order === 'ASC' ? last : first) ?? after ?? { change: 0n, digest: 0n, pruned }
}

export function readQuery({ caller, parameters, after }: WorkInput<Principal>): EventsQuery {
  const types = parameters.get('type') as readonly string[] | undefined
  const readable = kindsOfScopes(caller.scopes)
  const named = types && new Set(types.map((type) => kindOfType.get(type)))
  return {
    tenant: caller.tenant,
    isFresh: false,
    kinds: named === undefined ? readable : readable.intersection(named),
    types: types && new Set(types),
    times: timesOf(parameters),
    order: parameters.get('order') === 'DESC' ? 'DESC' : 'ASC',
    after: after && eventPlaceOf(after),
    limit: Number(parameters.get('limit') ?? contractLimits.eventsPageMax),
  }
}

const timesOf = (parameters: WorkInput<Principal>['parameters']): TimeRange =>
  intersection(
    boundOperators.flatMap((operator) => {
      const given = parameters.get(`created_at.${operator}`)
      return given === undefined ? [] : rangeOfBound(operator, given as Instant)
    }),
  )

const boundOperators: readonly BoundOperator[] = ['lt', 'lte', 'eq', 'gte', 'gt']
