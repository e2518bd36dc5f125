import { isDeepStrictEqual } from 'node:util'
import { parseInstant } from '@bursar/base'
import { type Checks, once } from '../check-statement.ts'
import type { Session } from '../client/client-session.ts'
import { callEvents, events, objectOf, oneOfEachType, readEvents } from '../client/feed.ts'
import { fiatAccounts, kindOf, lists } from '../contract.ts'
import { type Item, idOf, isItem, memberOf, pathIdOf, textOf, timeOf } from '../json.ts'
import { feedOf, selectsEvents } from '../questions/selects.ts'
import { hold, holdStatus, need } from '../verdicts.ts'
import { verifyLimits } from '../verify-limits.ts'
import { tokenWithout } from './authorization-statements.ts'
import { otherOf } from './isolation-statements.ts'

/** The feed: what a reader that stores its cursor gets. */
export const eventStatements: Checks = {
  'events.page': once(async ({ session }) => {
    const answered = await callEvents(session, { limit: '1' })
    need(answered.status !== 403, 'the client may not read events')
    holdStatus(answered, 200)
    const type = answered.headers.get('content-type') ?? ''
    hold(/^application\/json\b/.test(type), 'it is not application/json', answered)
    const items = memberOf(answered.body, 'items')
    hold(Array.isArray(items) && items.every(isItem), 'items must hold objects', answered)
    const resume = textOf(answered.body, 'resume_cursor') ?? ''
    hold(resume !== '', 'resume_cursor must be text', answered)
  }),
  'events.limit': once(async ({ session }) => {
    for (const limit of ['1', '2', undefined]) {
      const { items, exchange } = await readEvents(session, limit === undefined ? {} : { limit })
      const max = Number(limit ?? events.limitMax)
      hold(items.length <= max, `the page has ${items.length} events`, exchange)
    }
    for (const limit of [String(events.limitMax + 1), '0']) {
      holdStatus(await callEvents(session, { limit }), 400)
    }
  }),
  'events.members': once(async ({ session }) => {
    for (const { items, exchange } of (await feedOf(session)).pages) {
      for (const event of items) {
        const fault = faultOf(event)
        hold(fault === undefined, `${fault} is faulty`, { ...exchange, part: event })
      }
    }
  }),
  'events.each-once': once(async ({ session }) => {
    for (const { pages } of [await session.feedWalk(), await feedOf(session)]) {
      const seen = new Set<string>()
      for (const { items, exchange } of pages) {
        for (const id of items.map(idOf)) {
          hold(!seen.has(id), `the event ${id} appears twice`, exchange)
          seen.add(id)
        }
      }
    }
  }),
  'events.order': once(async ({ session }) => {
    const feed = (await feedOf(session)).items.map(idOf)
    const placeOf = new Map(feed.map((id, place) => [id, place]))
    const walked = await session.feedWalk()
    const moved = walked.items.findIndex(
      (event, at) => at < feed.length && idOf(event) !== feed[at],
    )
    const { pages } = walked
    const page = pages.find(({ items }) => items.some((one) => one === walked.items[moved]))
    if (page !== undefined) hold(false, 'small pages have another order', page.exchange)
    const { items, exchange } = await session.newestEvents()
    const places = items.map((event) => placeOf.get(idOf(event))).filter((at) => at !== undefined)
    const isReverse = places.every((place, at) => at === 0 || place < (places[at - 1] ?? 0))
    hold(isReverse, 'order=DESC has another order', exchange)
    const hasNewest = !(await feedOf(session)).isWhole || places[0] === feed.length - 1
    hold(hasNewest, 'order=DESC does not begin with the newest event', exchange)
  }),
  'events.last-cursor': once(async ({ session }) => {
    const feed = await feedOf(session)
    for (const { pages } of [feed, await session.feedWalk()]) {
      for (const [at, { exchange, next, resume }] of pages.entries()) {
        hold(resume !== undefined, 'it has no resume_cursor', exchange)
        const isText =
          next !== undefined || memberOf(exchange.body, 'next_page_cursor') === undefined
        hold(isText, 'next_page_cursor must be text or absent', exchange)
        hold(pages[at + 1]?.items.length !== 0, 'the next page has no event', exchange)
      }
    }
    const [last, before] = feed.pages.toReversed()
    need(feed.isWhole && last !== undefined && last.items.length > 0, 'its end was not reached')
    // Exactly full, which is where servers go wrong.
    const page_cursor = before?.next ?? ''
    const full = await readEvents(session, { limit: String(last.items.length), page_cursor })
    if (full.next === undefined) return
    const behind = await readEvents(session, { page_cursor: full.next })
    hold(behind.items.length > 0, 'the next page has no event', full.exchange)
  }),
  'events.resume': once(async ({ session }) => {
    const { pages } = await session.feedWalk()
    for (const [at, { resume }] of pages.entries()) {
      const expected = pages[at + 1]?.items[0]
      if (expected === undefined || resume === undefined) continue
      const { items, exchange } = await readEvents(session, { page_cursor: resume, limit: '1' })
      const isNext = items[0] !== undefined && idOf(items[0]) === idOf(expected)
      hold(isNext, 'it shows another event than the next page', exchange)
    }
    const feed = await feedOf(session)
    const newest = await session.newestEvents()
    const known = new Set([...feed.items, ...newest.items].map(idOf))
    for (const page_cursor of [feed.isWhole ? feed.pages.at(-1)?.resume : '', newest.resume]) {
      if (page_cursor) await showsNoneOf(session, page_cursor, known)
    }
  }),
  'events.wait': once(async ({ session }) => {
    const { resume: page_cursor } = await session.newestEvents()
    need(page_cursor !== undefined, 'there is no resume_cursor')
    const answered = await callEvents(session, { page_cursor, wait: '1' })
    holdStatus(answered, 200)
    const items = memberOf(answered.body, 'items')
    const isSame = textOf(answered.body, 'resume_cursor') === page_cursor
    const isQuiet = Array.isArray(items) && (items.length > 0 || isSame)
    hold(isQuiet, 'it must be an empty page with the same resume_cursor', answered)
    holdStatus(await callEvents(session, { page_cursor, wait: '31' }), 400)
  }),
  'events.types': once(async ({ session }) => {
    const { items } = await feedOf(session)
    const types = oneOfEachType(items).map((event) => textOf(event, 'type') ?? '')
    for (const type of types.slice(0, verifyLimits.readsMax)) {
      await selectsEvents(session, { type }, (event) => textOf(event, 'type') === type)
    }
    holdStatus(await callEvents(session, { type: 'no_such.type' }), 400)
  }),
  'events.bounds': once(async ({ session }) => {
    const { items } = await feedOf(session)
    const middle = items[Math.floor(items.length / 2)]
    const at = middle && textOf(middle, 'created_at')
    const bound = middle && timeOf(middle, 'created_at')
    need(at !== undefined && bound !== undefined, 'an event has no created_at')
    // Those of accounts.
    for (const [name, passes] of Object.entries(fiatAccounts.bounds)) {
      await selectsEvents(session, { [name]: at }, (event) => {
        const time = timeOf(event, 'created_at')
        return time !== undefined && passes(time, bound)
      })
    }
  }),
  'events.scope': once(async ({ session }) => {
    await feedOf(session)
    const token = await tokenWithout(session, events.scope)
    holdStatus(await callEvents(session, { limit: '1' }, token), 403)
  }),
  'events.kinds': once(async ({ session }) => {
    const { items } = await feedOf(session)
    const kinds = new Set(items.map((event) => objectOf(event).kind))
    for (const list of lists.filter((one) => kinds.has(kindOf(one)))) {
      const token = await session.tokens.withScopes([events.scope, list.scope])
      need(token !== undefined, 'no token with fewer scopes is issued')
      const ofKind = (event: Item) => objectOf(event).kind === kindOf(list)
      await selectsEvents(session, {}, ofKind, token)
    }
  }),
  'events.read': once(async ({ session }) => {
    const { items } = await feedOf(session)
    for (const event of oneOfEachType(items).slice(0, verifyLimits.readsMax)) {
      const alone = await session.call(`${events.path}/${pathIdOf(event)}`)
      holdStatus(alone, 200)
      hold(isDeepStrictEqual(alone.body, event), 'the event differs from the feed', alone)
    }
    holdStatus(await session.call(`${events.path}/${session.newId()}`), 404)
    holdStatus(await session.call(`${events.path}/no-uuid`), 400)
  }),
  'events.isolation': once(async (context) => {
    const { session } = context
    const other = await otherOf(context)
    const feed = await feedOf(session)
    const foreign = await other.feed()
    const [event] = foreign.items
    const page_cursor = foreign.pages[0]?.resume
    need(event !== undefined && page_cursor !== undefined, 'the other customer has no event')
    const hidden = new Set(foreign.items.flatMap((one) => [idOf(one), objectOf(one).id]))
    for (const { items, exchange } of feed.pages) {
      const shown = items.find((one) => hidden.has(idOf(one)) || hidden.has(objectOf(one).id))
      const part = { ...exchange, part: shown }
      hold(shown === undefined, 'it shows an event of the other customer', part)
    }
    holdStatus(await session.call(`${events.path}/${pathIdOf(event)}`), 404)
    holdStatus(await callEvents(session, { page_cursor }), 400)
  }),
}

/** At a cursor behind every known event there is none of them, and without a new one it stays. */
async function showsNoneOf(session: Session, page_cursor: string, known: ReadonlySet<string>) {
  const { items, resume, exchange } = await readEvents(session, { page_cursor })
  const twice = items.map(idOf).find((id) => known.has(id))
  hold(twice === undefined, `the event ${twice} is shown again`, exchange)
  const isAtRest = items.length > 0 || resume === page_cursor
  hold(isAtRest, 'without a new event the resume_cursor must stay', exchange)
}

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The first member that is not as it must be. */
function faultOf(event: Item): string | undefined {
  const { id, kind } = objectOf(event)
  const [object = '', action = ''] = (textOf(event, 'type') ?? '').split('.')
  const are: Readonly<Record<string, boolean>> = {
    id: idForm.test(idOf(event)),
    type: /^(created|updated|deleted|consumed)$/.test(action),
    object_type: object !== '' && textOf(event, 'object_type') === object,
    object: idForm.test(id) && kind !== '',
    created_at: parseInstant(textOf(event, 'created_at') ?? '') !== undefined,
    as_of: parseInstant(textOf(event, 'as_of') ?? '') !== undefined,
  }
  return Object.keys(are).find((name) => are[name] === false)
}
