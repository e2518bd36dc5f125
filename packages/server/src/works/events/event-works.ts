import type { Config } from '@bursar/base'
import {
  eventKinds,
  kindsOfScopes,
  noneFound,
  type Principal,
  problem,
  type Work,
} from '@bursar/contract'
import { type CustomerEvents, eventPosition, type Store } from '@bursar/records'
import { describeEvent } from './describe-event.ts'
import { eventId, openEventId } from './event-id.ts'
import type { EventWaits } from './event-waits.ts'
import { type EventsQuery, findEvents, nothingAfter, readQuery, resumeOf } from './find-events.ts'
import { openSharedReads } from './shared-reads.ts'
import { waitForSome, waitingReadsMax } from './wait-for-events.ts'

type EventDeps = { readonly store: Pick<Store, 'customers'> }

type ListDeps = EventDeps & {
  readonly config: Pick<Config, 'databaseConnectionsMax'>
  readonly waits: EventWaits
}

/** The work of listEvents. With `wait` it answers once there is an event, or at the end. */
export function listEventsWork({ store, config, waits }: ListDeps): Work<Principal> {
  const reads = openSharedReads({
    read: (query: EventsQuery) => findEvents(store, query),
    runningMax: waitingReadsMax(config),
  })
  return async (input) => {
    const { parameters, trace } = input
    const query = readQuery(input)
    const seconds = Number(parameters.get('wait') ?? 0)
    const isWaiting = seconds > 0 && query.order === 'ASC' && query.kinds.size > 0
    const found = isWaiting
      ? await waitForSome(input, {
          query,
          seconds,
          waits,
          reads,
          begin: (endsAt, left) => store.customers.changes.begin(query.tenant, endsAt, left),
          // What a replica does not have yet is on the primary.
          next: ({ last }) => ({ ...query, isFresh: true, after: last ?? query.after }),
          nothing: nothingAfter(query),
        })
      : await findEvents(store, query)
    const { items, more, last } = found
    trace.rows = items.length
    return {
      body: { items },
      next: more && last !== undefined ? eventPosition(last) : undefined,
      resume: eventPosition(resumeOf(query, found)),
    }
  }
}

/**
 * The work of getEvent. An event that was pruned is 410, so that nobody takes it for a mistake, and
 * so is one that a restore or a fail-over has lost.
 */
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
    if (event === undefined) throw problem('gone', 'the event was pruned, or lost in a recovery')
    if (!kindsOfScopes(caller.scopes).has(event.kind)) throw noneFound('event', id)
    return { body: describeEvent(event, secret) }
  }

/** Undefined for an id that is none of the customer's; without an event for one that is gone. */
async function findEvent(events: CustomerEvents, id: string) {
  const secret = await events.secret()
  const change = secret && openEventId(secret, id)
  if (secret === undefined || change === undefined) return undefined
  const event = await events.find(new Set(eventKinds), change)
  // After a recovery that has lost changes, another event may have the number.
  return { secret, event: event && eventId(secret, event) === id ? event : undefined }
}
