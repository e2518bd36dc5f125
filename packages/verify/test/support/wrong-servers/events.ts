import type { Asked, Wrong } from '../wrong-server.ts'
import {
  answeredWith,
  asks,
  changedUrl,
  ignoresValue,
  isEvent,
  isFeed,
  isList,
  isSingle,
  type Json,
  json,
  refuses,
  replaced,
  statusOf,
  type WrongServerCase,
  withQuery,
} from './mutations.ts'

/** Changes each page of the feed. */
const feedPage = (change: (body: Json, asked: Asked) => Json): Wrong => ({
  answer: ({ status, text }, asked) =>
    status === 200 && isFeed(asked)
      ? { text: JSON.stringify(change(JSON.parse(text), asked)) }
      : {},
})

const cursorOf = ({ url }: Asked): string => url.searchParams.get('page_cursor') ?? ''
const limitOf = (query: URLSearchParams): number => Number(query.get('limit'))

/** Shows the last event of a page again after it: of each page but the last, or of the last. */
const repeatsAfter = (isMeant: (body: Json) => boolean) => (): Wrong => {
  const lastAt = new Map<string, Json>()
  return feedPage((body, asked) => {
    const last = body.items.at(-1)
    if (last !== undefined && isMeant(body)) {
      lastAt.set(body.next_page_cursor ?? body.resume_cursor, last)
    }
    const previous = lastAt.get(cursorOf(asked))
    const hasRoom = asked.url.searchParams.get('limit') !== '1'
    return previous === undefined || !hasRoom ? body : { ...body, items: [previous, ...body.items] }
  })
}

/** The scopes of a token that is a JWT. */
function scopesOf({ headers }: Asked): readonly string[] {
  const [, payload = ''] = (headers.get('authorization') ?? '').split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()).scope.split(' ')
}

const isPast = (asked: Asked): boolean => asks(asked, 'as_of')

const feed: readonly WrongServerCase[] = [
  {
    fault: 'names the envelope of events otherwise',
    breaks: ['events.page'],
    wrong: replaced(/^\{"items"/, '{"events"', isFeed),
  },
  {
    fault: 'has no resume_cursor',
    breaks: ['events.page', 'events.last-cursor'],
    wrong: feedPage(({ resume_cursor: _, ...body }) => body),
  },
  {
    fault: 'answers an event more than limit',
    breaks: ['events.limit'],
    wrong: withQuery((query) => {
      if (limitOf(query) > 0 && limitOf(query) < 100) query.set('limit', `${limitOf(query) + 1}`)
    }, isFeed),
  },
  {
    fault: 'accepts a limit of 101 events',
    breaks: ['events.limit'],
    wrong: withQuery((query) => {
      if (query.get('limit') === '101') query.set('limit', '100')
    }, isFeed),
  },
  {
    fault: 'names another object_type than the type of the event',
    breaks: ['events.members'],
    wrong: replaced(
      /"object_type":"fiat_account"/g,
      '"object_type":"account"',
      (asked) => isFeed(asked) || isEvent(asked),
    ),
  },
  {
    fault: 'repeats an event on the next page',
    breaks: ['events.each-once', 'events.order', 'events.resume'],
    wrong: repeatsAfter((body) => body.next_page_cursor !== undefined),
  },
  {
    fault: 'leaves out the first event of each small page',
    breaks: ['events.order', 'events.resume'],
    wrong: feedPage((body, asked) => {
      const isSmall = limitOf(asked.url.searchParams) < 100 && body.items.length > 1
      return isSmall && cursorOf(asked) !== '' ? { ...body, items: body.items.slice(1) } : body
    }),
  },
  {
    fault: 'answers the oldest events of order=DESC first',
    breaks: ['events.order', 'events.resume'],
    wrong: withQuery((query) => query.delete('order'), isFeed),
  },
  {
    fault: 'answers a null cursor at the end of the feed',
    breaks: ['events.last-cursor'],
    wrong: feedPage((body) => ({ next_page_cursor: null, ...body })),
  },
  {
    fault: 'names a next page at the end of the feed',
    breaks: ['events.last-cursor'],
    wrong: feedPage((body) => ({ next_page_cursor: body.resume_cursor, ...body })),
  },
  {
    fault: 'repeats an event for a reader that resumes',
    breaks: ['events.resume'],
    wrong: repeatsAfter((body) => body.next_page_cursor === undefined),
  },
  {
    fault: 'answers another resume_cursor without a new event',
    breaks: ['events.resume', 'events.wait'],
    wrong: feedPage((body) =>
      body.items.length > 0 ? body : { ...body, resume_cursor: `${body.resume_cursor}A` },
    ),
  },
  {
    fault: 'answers 408 when a wait is over',
    breaks: ['events.wait'],
    wrong: refuses(
      408,
      ({ status }, asked) => isFeed(asked) && asks(asked, 'wait') && status === 200,
    ),
  },
  {
    fault: 'accepts a wait of 31 seconds',
    breaks: ['events.wait'],
    wrong: withQuery((query) => {
      if (query.get('wait') === '31') query.delete('wait')
    }, isFeed),
  },
  {
    fault: 'ignores the filter type',
    breaks: ['events.types'],
    wrong: withQuery((query) => {
      if (query.get('type') !== 'no_such.type') query.delete('type')
    }, isFeed),
  },
  {
    fault: 'accepts an unknown type of event',
    breaks: ['events.types'],
    wrong: withQuery((query) => {
      if (query.get('type') === 'no_such.type') query.delete('type')
    }, isFeed),
  },
  ...['gte', 'gt', 'lte', 'lt', 'eq'].map((side) => ({
    fault: `takes the bound ${side} of events for another side`,
    breaks: ['events.bounds'],
    wrong: withQuery((query) => {
      const bound = query.get(`created_at.${side}`)
      if (bound === null) return
      query.delete(`created_at.${side}`)
      query.set(side === 'lt' || side === 'gt' ? 'created_at.eq' : 'created_at.gt', bound)
    }, isFeed),
  })),
  {
    fault: 'shows events to a token without their scope',
    breaks: ['events.scope'],
    wrong: ({ ownToken }) => answeredWith(ownToken, isFeed, ({ status }) => status === 403),
  },
  {
    fault: 'shows events of kinds that a token may not read',
    breaks: ['events.kinds'],
    wrong: ({ ownToken }) =>
      answeredWith(
        ownToken,
        (asked) => isFeed(asked) && scopesOf(asked).length === 2,
        () => true,
      ),
  },
  {
    fault: 'answers another time for an event alone',
    breaks: ['events.read'],
    wrong: replaced(/"as_of":"\d{4}/, '"as_of":"2020', isEvent),
  },
  {
    fault: 'answers 400 to an unknown event',
    breaks: ['events.read', 'events.isolation'],
    wrong: statusOf(404, 400, isEvent),
  },
  {
    fault: 'answers 404 to an id of an event that is none',
    breaks: ['events.read'],
    wrong: statusOf(400, 404, isEvent),
  },
  {
    fault: 'answers another customer’s event',
    breaks: ['events.isolation'],
    wrong: ({ foreignToken }) => answeredWith(foreignToken, isEvent),
  },
  {
    fault: 'takes another customer’s cursor of the feed',
    breaks: ['events.isolation'],
    wrong: {
      answer: ({ status }, asked, again) =>
        status === 400 && isFeed(asked) && cursorOf(asked) !== ''
          ? again({ ...asked, url: changedUrl(asked, (query) => query.delete('page_cursor')) })
          : {},
    },
  },
]

const past: readonly WrongServerCase[] = [
  {
    fault: 'ignores as_of of a list',
    breaks: ['past.versions', 'past.future', 'past.unknown'],
    wrong: withQuery((query) => query.delete('as_of')),
  },
  {
    fault: 'shows a record at the time of its deletion',
    breaks: ['past.versions'],
    wrong: withQuery(
      (query) => query.set('include_deleted', 'true'),
      (asked) => isList(asked, 'fiat-accounts') && isPast(asked),
    ),
  },
  {
    fault: 'reads no record alone at a time',
    breaks: ['past.reads'],
    wrong: refuses(404, (_, asked) => isSingle(asked) && isPast(asked)),
  },
  {
    fault: 'answers the past otherwise each time',
    breaks: ['past.repeatable'],
    wrong: () => {
      let count = 0
      return replaced(
        /\}$/,
        () => {
          count += 1
          return `,"count":${count}}`
        },
        (asked) => isList(asked) && isPast(asked),
      )
    },
  },
  {
    fault: 'takes a time in the future for now',
    breaks: ['past.future'],
    wrong: ignoresValue('as_of', '2999-01-01T00:00:00Z'),
  },
  {
    fault: 'answers an empty list from before its records',
    breaks: ['past.unknown'],
    wrong: {
      answer: ({ status }, asked) => (status === 410 && isList(asked) ? json({ items: [] }) : {}),
    },
  },
]

/** The feed of events, and reads at a time. */
export const ofEvents: readonly WrongServerCase[] = [...feed, ...past]
