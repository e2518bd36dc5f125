import { limitsOf } from '@bursar/base'
import { Type } from 'typebox'
import { described, enumOf, memberOf, numberOf, upTo100, uuid } from '../fields.ts'
import { contractLimits } from '../limits.ts'
import {
  about,
  asComponent,
  component,
  enumMember,
  timestampMember,
  uuidMember,
} from '../members.ts'
import { createdAtBounds, operation } from '../operation.ts'
import { nextPageCursor, pageCursor } from '../paging.ts'
import { eventKinds, kindOfType, objectTypeOf } from '../resources/event-types.ts'

const limits = limitsOf({
  /** How long a request may wait for an event. Proxies end silent requests after a minute. */
  eventsWaitSecondsMax: 30,
})

const eventType = component(
  'EventType',
  'What happened, and to what.',
  enumMember([...kindOfType.keys()]),
)

const objectType = component(
  'EventObjectType',
  'What an event happens to.',
  enumMember(eventKinds.map(objectTypeOf)),
)

const object = component(
  'EventObject',
  'A record or a fee.',
  Type.Object({
    id: about('Its identifier.', uuidMember),
    kind: about(
      'Its kind.',
      component('EventKind', 'A kind of record, or fees.', enumMember(eventKinds)),
    ),
  }),
)

export const event = {
  name: 'Event',
  schema: Type.Object(
    {
      id: about('Identifier of the event.', uuidMember),
      type: about('What happened.', eventType),
      object_type: about('What it happened to.', objectType),
      object: about(
        'The record or fee; read it with `as_of` to have the version of the event.',
        object,
      ),
      created_at: about('When the version was stored.', timestampMember),
      as_of: about('For the parameter `as_of` of the reads of the object.', timestampMember),
    },
    { description: 'A version of a record, as what it did to the record.' },
  ),
}

const limit = described(
  numberOf(
    Type.Integer({
      format: 'int32',
      minimum: 1,
      maximum: contractLimits.eventsPageMax,
      default: contractLimits.eventsPageMax,
      reason: `must be between 1 and ${contractLimits.eventsPageMax}`,
    }),
  ),
  'How many events a page has at most.',
)

/** The parameter of the feeds, which each have the same limits. */
export const wait = described(
  numberOf(
    Type.Integer({
      format: 'int32',
      minimum: 0,
      maximum: limits.eventsWaitSecondsMax,
      default: 0,
      reason: `must be between 0 and ${limits.eventsWaitSecondsMax}`,
    }),
  ),
  'How many seconds the answer may wait for an event, where there is none yet. Without one it comes up to a fifth earlier, so that readers do not return together.',
)

export const listEvents = operation({
  id: 'listEvents',
  summary:
    'Events of the caller’s records, in the order in which they were stored, each once. A client sees those of the kinds that its scopes may read.',
  tag: 'Events',
  method: 'GET',
  path: '/v2/events',
  scope: 'events:read_event',
  query: {
    type: upTo100(memberOf(eventType), 'Filter by type; all where absent.'),
    ...Object.fromEntries(
      Object.entries(createdAtBounds).map(([name, { field }]) => [name, field]),
    ),
    limit,
    order: described(enumOf(['ASC', 'DESC'], 'ASC'), 'Oldest first (ASC), or newest first.'),
    page_cursor: {
      ...pageCursor,
      description: 'A `next_page_cursor` or `resume_cursor`; empty for the first page.',
    },
    wait,
  },
  view: {
    name: 'EventsPage',
    schema: Type.Object(
      {
        items: about(
          'The events; empty where none matches.',
          Type.Array(asComponent(event), { maxItems: contractLimits.eventsPageMax }),
        ),
        ...nextPageCursor,
        resume_cursor: about(
          'The `page_cursor` that shows what comes after this page, now or later.',
          Type.String(),
        ),
      },
      { description: 'A page of events.' },
    ),
  },
  answers: {
    200: { description: 'A page of events.' },
    410: { description: 'Events after the cursor are gone; read the lists, then the feed again.' },
  },
})

export const getEvent = operation({
  id: 'getEvent',
  summary: 'One event of the caller.',
  tag: 'Events',
  method: 'GET',
  path: '/v2/events/:id',
  scope: 'events:read_event',
  parameters: { id: described(uuid, 'The event’s identifier.') },
  view: event,
  answers: {
    404: { description: 'Nothing with this id is the caller’s.' },
    410: {
      description:
        'The event was pruned with the version of its record, or lost in a recovery of the store.',
    },
  },
})
