import type { Session } from '../client/client-session.ts'
import { events, type Feed, readFeed } from '../client/feed.ts'
import { type Item, idOf } from '../json.ts'
import { hold, need } from '../verdicts.ts'
import type { Query } from '../ways.ts'

/** The query shows matching events only, and all of those that are known, as far as it was read. */
export async function selectsEvents(
  session: Session,
  query: Query,
  matches: (event: Item) => boolean,
  token?: string,
): Promise<void> {
  const { items: known } = await feedOf(session)
  const limited = { ...query, limit: String(events.limitMax) }
  const found = await readFeed(session, limited, token === undefined ? {} : { token })
  for (const { items, exchange } of found.pages) {
    const wrong = items.find((event) => !matches(event))
    const evidence = { ...exchange, part: wrong }
    hold(wrong === undefined, `the event ${wrong && idOf(wrong)} does not match`, evidence)
  }
  const shown = new Set(found.items.map(idOf))
  const lastShown = known.findLastIndex((event) => shown.has(idOf(event)))
  const end = found.isWhole ? known.length : lastShown + 1
  const missing = known.slice(0, end).find((event) => matches(event) && !shown.has(idOf(event)))
  const [first] = found.pages
  if (first === undefined) return
  hold(missing === undefined, `the event ${missing && idOf(missing)} is missing`, first.exchange)
}

/** The feed; not testable without an event. */
export async function feedOf(session: Session): Promise<Feed> {
  const feed = await session.feed()
  need(feed.items.length > 0, 'there is no event')
  return feed
}
