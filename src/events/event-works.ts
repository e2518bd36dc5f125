import { setTimeout as passing, setImmediate as turn } from 'node:timers/promises'
import type { Work, WorkInput } from '../contract/operation.ts'
import type { Principal } from '../contract/principal.ts'
import { noneFound, problem } from '../contract/problem.ts'
import { limits } from '../platform/limits.ts'
import { eventKinds, eventTypeOf, kindOfType, kindsOfScopes } from '../resources/event-types.ts'
import { eventPlaceOf, eventPosition } from '../store/position.ts'
import type { CustomerEvents, EventPlace, StoredEvent } from '../store/records/events.ts'
import type { Store } from '../store/records.ts'
import { StoreDamaged, StoreUnavailable } from '../store/unavailable.ts'
import type { Instant } from '../values/instant.ts'
import {
  type BoundOperator,
  intersection,
  rangeOfBound,
  type TimeRange,
} from '../values/time-range.ts'
import { describeEvent } from './describe-event.ts'
import { openEventId } from './event-id.ts'
import { openEventWaits } from './event-waits.ts'

type EventDeps = { readonly store: Pick<Store, 'customers'> }

/** The work of listEvents. With `wait` it answers once there is an event, or at the end. */
export function listEventsWork({ store }: EventDeps): Work<Principal> {
  const waits = openEventWaits()
  return async (input) => {
    const { caller, parameters, trace } = input
    const events = store.customers.events(caller.tenant)
    const asked = readAsked(input)
    const seconds = Number(parameters.get('wait') ?? 0)
    const isWaiting = seconds > 0 && asked.order === 'ASC' && asked.kinds.size > 0
    const found = isWaiting
      ? await waitForSome(input, asked, seconds)
      : await readSome(events, asked)
    trace.rows = found.events.length
    const items = found.events.map((one) => describeEvent(one, found.secret))
    const next = found.more ? found.last : undefined
    return {
      body: { items },
      next: next && eventPosition(next),
      resume: eventPosition(resumeOf(asked, found)),
    }
  }

  async function waitForSome(
    { caller, request }: WorkInput<Principal>,
    asked: Asked,
    seconds: number,
  ): Promise<FoundEvents> {
    const endsAt =
      performance.now() + 1000 * seconds * (1 - limits.eventsWaitSpread * Math.random())
    const { tenant, clientId } = caller
    const leave = waits.enter(clientId)
    // Before the first read, so that no change falls between the two.
    const wait = store.customers.changes.begin(tenant)
    try {
      let found = await readSome(store.customers.events(tenant), asked)
      // What a replica does not have yet is on the primary.
      const fresh = store.customers.events(tenant, true)
      const left = request.left()
      while (found.events.length === 0 && !found.more) {
        const countAgain = request.rest()
        const isChanged = await wait.until(found.changes, endsAt, left).finally(countAgain)
        if (!isChanged) break
        const next = { ...asked, after: found.last ?? asked.after }
        found = await patiently(() => readSome(fresh, next), endsAt)
      }
      return found
    } finally {
      wait.end()
      leave()
    }
  }
}

/** Many readers wake at once and share few sessions, so one that got none in time tries again. */
async function patiently<T>(read: () => Promise<T>, endsAt: number): Promise<T> {
  for (;;) {
    try {
      return await read()
    } catch (error) {
      const pauseMs = limits.eventsReadAgainMs * (1 + Math.random())
      const isLate = performance.now() + pauseMs > endsAt
      if (!(error instanceof StoreUnavailable) || error instanceof StoreDamaged || isLate)
        throw error
      await passing(pauseMs)
    }
  }
}

/** The work of getEvent. An event that was pruned is 410, so that nobody takes it for a mistake. */
export const getEventWork =
  ({ store }: EventDeps): Work<Principal> =>
  async ({ caller, parameters }) => {
    const id = String(parameters.get('id'))
    const { customers } = store
    const known = await findEvent(customers.events(caller.tenant), id)
    // A replica may not have it yet.
    const asked = known?.event ? known : await findEvent(customers.events(caller.tenant, true), id)
    if (asked === undefined) throw noneFound('event', id)
    const { event, secret } = asked
    if (event === undefined) throw problem('gone', 'the event has been pruned')
    if (!kindsOfScopes(caller.scopes).has(event.kind)) throw noneFound('event', id)
    return { body: describeEvent(event, secret) }
  }

/** Undefined for an id that is none of the customer's; without an event for one that is gone. */
async function findEvent(events: CustomerEvents, id: string) {
  const secret = await events.secret()
  const change = secret && openEventId(secret, id)
  if (secret === undefined || change === undefined) return undefined
  return { secret, event: await events.find(new Set(eventKinds), change) }
}

type Asked = {
  readonly kinds: ReadonlySet<string>
  readonly matches: (event: StoredEvent) => boolean
  /** Whether `matches` may leave events of these kinds out. */
  readonly isFiltered: boolean
  /** When the events were stored, where the query bounds that. */
  readonly times: TimeRange | undefined
  readonly order: 'ASC' | 'DESC'
  readonly after: EventPlace | undefined
  readonly limit: number
}

function readAsked({ caller, parameters, after }: WorkInput<Principal>): Asked {
  const types = parameters.get('type') as readonly string[] | undefined
  const readable = kindsOfScopes(caller.scopes)
  const named = types && new Set(types.map((type) => kindOfType.get(type)))
  const { from, before } = timesOf(parameters)
  const isBounded = from !== undefined || before !== undefined
  return {
    kinds: named === undefined ? readable : readable.intersection(named),
    matches: ({ kind, action, storedAt }) =>
      (types === undefined || types.includes(eventTypeOf(kind, action))) &&
      (from === undefined || storedAt >= from) &&
      (before === undefined || storedAt < before),
    isFiltered: types !== undefined || isBounded,
    times: isBounded ? { from, before } : undefined,
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

type FoundEvents = {
  readonly events: readonly StoredEvent[]
  readonly more: boolean
  /** The first and the last event that was read, whether or not it matches. */
  readonly first: EventPlace | undefined
  readonly last: EventPlace | undefined
  readonly changes: bigint
  readonly pruned: bigint
  readonly secret: Uint8Array
}

/**
 * Reads a page. Where few events match, it ends after a bounded number of others, and the next page
 * goes on there.
 */
async function readSome(reader: CustomerEvents, asked: Asked): Promise<FoundEvents> {
  const { kinds, matches, isFiltered, times, order, after, limit } = asked
  // Anew for each read: what is stored meanwhile may be in it.
  const range = times && kinds.size > 0 ? await reader.rangeOf(kinds, times) : undefined
  const events: StoredEvent[] = []
  let first: EventPlace | undefined
  let last = after
  let read = 0
  for (;;) {
    const wanted = isFiltered ? limits.eventsReadTogether : limit
    const page = await reader.page({ kinds, order, after: last, range, limit: wanted })
    const { changes, pruned, secret } = page
    for (const event of page.events) {
      const { change, storedAt } = event
      last = { change, storedAt, pruned: after?.pruned ?? pruned }
      first ??= last
      read += 1
      if (matches(event) && events.push(event) === limit) break
    }
    const newest = page.events.at(-1)
    const more = page.more || (newest !== undefined && newest.change !== last?.change)
    if (!more || events.length === limit || read >= limits.eventsReadMax) {
      return { events, more, first, last, changes, pruned, secret }
    }
    // A step takes some milliseconds, after which other requests have their turn.
    await turn()
  }
}

/**
 * Where a reader goes on. In DESC order it is after the newest event of the page, since older ones
 * do not come after it.
 */
function resumeOf({ order, after }: Asked, { first, last, pruned }: FoundEvents): EventPlace {
  return (order === 'ASC' ? last : first) ?? after ?? { change: 0n, storedAt: 0n, pruned }
}
