import type { WorkInput } from '../contract/operation.ts'
import type { Principal, Tenant } from '../contract/principal.ts'
import { limits } from '../platform/limits.ts'
import { turn } from '../platform/time.ts'
import { eventTypeOf, kindOfType, kindsOfScopes } from '../resources/event-types.ts'
import { eventPlaceOf } from '../store/position.ts'
import type { EventPlace, StoredEvent } from '../store/records/events.ts'
import type { Store } from '../store/records.ts'
import type { Instant } from '../values/instant.ts'
import {
  type BoundOperator,
  intersection,
  rangeOfBound,
  type TimeRange,
} from '../values/time-range.ts'
import { describeEvent } from './describe-event.ts'

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
  /** The first and the last event that was read, whether or not it matches. */
  readonly first: EventPlace | undefined
  readonly last: EventPlace | undefined
  readonly changes: bigint
  readonly pruned: bigint
}

/**
 * Reads a page. Where few events match, it ends after a bounded number of others, and the next page
 * goes on there.
 */
export async function findEvents(
  { customers }: Pick<Store, 'customers'>,
  query: EventsQuery,
): Promise<FoundEvents> {
  const { tenant, isFresh, kinds, types, times, order, after, limit } = query
  const reader = customers.events(tenant, isFresh)
  const isBounded = times.from !== undefined || times.before !== undefined
  // Anew for each read: what is stored meanwhile may be in it.
  const range = isBounded && kinds.size > 0 ? await reader.rangeOf(kinds, times) : undefined
  // Without a filter, each event of these kinds matches.
  const together = types !== undefined || isBounded ? limits.eventsReadTogether : limit
  const items: object[] = []
  let first: EventPlace | undefined
  let last = after
  let read = 0
  for (;;) {
    const page = await reader.page({ kinds, order, after: last, range, limit: together })
    const { changes, pruned, secret } = page
    for (const event of page.events) {
      const { change, storedAt } = event
      last = { change, storedAt, pruned: after?.pruned ?? pruned }
      first ??= last
      read += 1
      if (matches(query, event) && items.push(describeEvent(event, secret)) === limit) break
    }
    const newest = page.events.at(-1)
    const more = page.more || (newest !== undefined && newest.change !== last?.change)
    if (!more || items.length === limit || read >= limits.eventsReadMax) {
      return { items, more, first, last, changes, pruned }
    }
    // A step takes some milliseconds, after which other requests have their turn.
    await turn()
  }
}

const matches = (
  { types, times: { from, before } }: EventsQuery,
  { kind, action, storedAt }: StoredEvent,
): boolean =>
  (types === undefined || types.has(eventTypeOf(kind, action))) &&
  (from === undefined || storedAt >= from) &&
  (before === undefined || storedAt < before)

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
  return (order === 'ASC' ? last : first) ?? after ?? { change: 0n, storedAt: 0n, pruned }
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
    limit: Number(parameters.get('limit') ?? limits.eventsPageMax),
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
