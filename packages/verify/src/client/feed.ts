import { systemTime } from '@bursar/base'
import { type Item, idOf, isItem, memberOf, textOf } from '../json.ts'
import { need } from '../verdicts.ts'
import { verifyLimits } from '../verify-limits.ts'
import { type Query, queryOf } from '../ways.ts'
import type { Exchange } from './exchange.ts'

export const events = { path: '/v2/events', scope: 'events:read_event', limitMax: 100 } as const

export type EventPage = {
  readonly exchange: Exchange
  readonly items: readonly Item[]
  /** Null and an empty text end a walk too; one statement is about them. */
  readonly next: string | undefined
  readonly resume: string | undefined
}

/** The feed from its first event on. */
export type Feed = {
  readonly pages: readonly EventPage[]
  readonly items: readonly Item[]
  /** Whether the last page is the last of the feed. */
  readonly isWhole: boolean
}

type Caller = {
  call(path: string, call?: { readonly token?: string }): Promise<Exchange>
  needScope(scope: string): void
}

/** Not testable where the target has no events, or does not show them to the client. */
export async function callEvents(session: Caller, query: Query, token?: string): Promise<Exchange> {
  session.needScope(events.scope)
  const call = token === undefined ? {} : { token }
  const exchange = await session.call(`${events.path}${queryOf(query)}`, call)
  need(exchange.status !== 404, 'the target has no events')
  return exchange
}

export async function readEvents(
  session: Caller,
  query: Query,
  token?: string,
): Promise<EventPage> {
  const exchange = await callEvents(session, query, token)
  const found = memberOf(exchange.body, 'items')
  need(exchange.status === 200 && Array.isArray(found), `events answer HTTP ${exchange.status}`)
  return {
    exchange,
    items: found.filter(isItem),
    next: textOf(exchange.body, 'next_page_cursor') || undefined,
    resume: textOf(exchange.body, 'resume_cursor') || undefined,
  }
}

/** Follows the cursors from the first event that a query selects, for a bounded number of pages. */
export async function readFeed(
  session: Caller,
  query: Query,
  { pagesMax = verifyLimits.pagesMax, token }: { pagesMax?: number; token?: string } = {},
): Promise<Feed> {
  using deadline = systemTime.deadline(verifyLimits.walkMs)
  const pages: EventPage[] = []
  const feed = (isWhole: boolean): Feed => ({
    pages,
    items: pages.flatMap(({ items }) => items),
    isWhole,
  })
  for (let next: string | undefined = ''; next !== undefined; next = pages.at(-1)?.next) {
    if (pages.length === pagesMax || deadline.signal.aborted) return feed(false)
    pages.push(await readEvents(session, { ...query, page_cursor: next }, token))
  }
  return feed(true)
}

/** A few pages, so that there is something between them; needs two events. */
export async function walkFeed(session: Caller, { items }: Feed): Promise<Feed> {
  need(items.length >= 2, items.length === 0 ? 'there is no event' : 'there is one event only')
  return readFeed(session, { limit: String(Math.min(Math.ceil(items.length / 4), 25)) })
}

/** An event of each type, so that a few reads show much. */
export function oneOfEachType(items: readonly Item[]): readonly Item[] {
  const byType = Map.groupBy(items, (item) => textOf(item, 'type'))
  return [...byType.values()].flatMap((of) => of.slice(0, 1))
}

/** What an event is about. */
export function objectOf(event: Item): { readonly id: string; readonly kind: string } {
  const object = memberOf(event, 'object')
  return { id: isItem(object) ? idOf(object) : '', kind: textOf(object, 'kind') ?? '' }
}

export const isDeletion = (event: Item): boolean =>
  textOf(event, 'type')?.endsWith('.deleted') === true
