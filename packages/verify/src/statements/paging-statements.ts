import { type Checks, type Context, each, eachOf } from '../check-statement.ts'
import { needRecords, type Session } from '../client/client-session.ts'
import { needList, type Page, sampleOf, upTo } from '../client/pages.ts'
import { issuerQuotes, type List, lists, pageSize } from '../contract.ts'
import { idOf, isItem, memberOf } from '../json.ts'
import { hold, holdStatus, need } from '../verdicts.ts'
import type { Query } from '../ways.ts'

/** Pages: what a client that follows the cursors gets. */
export const pagingStatements: Checks = {
  'paging.envelope': each(async ({ session }, list) => {
    session.needScope(list.scope)
    const answered = await session.list(list, { limit: '1' })
    needList(answered, list)
    holdStatus(answered, 200)
    const type = answered.headers.get('content-type') ?? ''
    hold(/^application\/json\b/.test(type), 'it is not application/json', answered)
    const found = memberOf(answered.body, list.envelope)
    hold(Array.isArray(found), `${list.envelope} must be an array`, answered)
    hold(found.every(isItem), `${list.envelope} must hold objects`, answered)
  }),
  'paging.empty': each(async ({ session }, list) => {
    await session.sample(list)
    const answered = await session.list(list, { [list.ids]: session.newId() })
    const found = memberOf(answered.body, list.envelope)
    holdStatus(answered, 200)
    hold(Array.isArray(found), `${list.envelope} must be an array`, answered)
  }),
  'paging.limit': each(async ({ session }, list) => {
    const { limit, pages } = await session.walk(list)
    for (const { items, exchange } of pages) {
      hold(items.length <= limit, `the page has ${items.length} records`, exchange)
    }
  }),
  'paging.default-limit': each(async ({ session }, list) => {
    const { items } = await session.sample(list)
    need(items.length > pageSize.default, `it has at most ${pageSize.default} records`)
    const { items: shown, exchange } = await session.items(list, {})
    hold(shown.length === pageSize.default, `the page has ${shown.length} records`, exchange)
  }),
  'paging.short-page': eachOf([issuerQuotes], hasFullPages),
  'paging.full-pages': eachOf(
    lists.filter((list) => list !== issuerQuotes),
    hasFullPages,
  ),
  'paging.last-cursor': each(async ({ session }, list) => {
    const { items } = await session.sample(list)
    const ids = items.slice(0, 2).map(idOf)
    needRecords(items)
    // Exactly full, which is where servers go wrong.
    const query = { [list.ids]: ids, limit: String(ids.length) }
    const { exchange: answered, items: found } = await session.items(list, query)
    const areThey = found.every((item) => ids.includes(idOf(item)))
    need(areThey, `its filter ${list.ids} does not select records`)
    const cursor = memberOf(answered.body, 'next_page_cursor')
    hold(cursor === undefined, `next_page_cursor is ${kindOf(cursor)}`, answered)
  }),
  'paging.each-once': each(async ({ session }, list) => {
    const whole = await session.whole(list)
    for (const { pages } of [await session.walk(list), whole]) {
      const seen = new Set<string>()
      for (const { items, exchange } of pages) {
        for (const id of items.map(idOf)) {
          hold(!seen.has(id), `the record ${id} appears twice`, exchange)
          seen.add(id)
        }
      }
    }
    return whole.stopped
  }),
  'paging.nothing-lost': each(async ({ session }, list) => {
    const { pages } = await session.walk(list)
    const missing = await lostOf(session, list, pages)
    const [id] = missing
    const last = pages.at(-1)
    const says = `${missing.length} records are in no page, such as ${id}`
    if (last !== undefined) hold(missing.length === 0, says, last.exchange)
  }),
  'paging.limit-change': each(async ({ session }, list) => {
    const { limit, pages } = await session.walk(list)
    const [first, second] = pages
    const expected = second?.items.at(0)
    need(first?.cursor !== undefined && expected !== undefined, 'it has no second page')
    const query = { page_cursor: first.cursor, limit: String(limit + 1) }
    const answered = await session.list(list, query)
    holdStatus(answered, 200)
    const found = memberOf(answered.body, list.envelope)
    const next = Array.isArray(found) ? idOf(found[0] ?? {}) : ''
    hold(next === idOf(expected), 'the page starts with another record', answered)
  }),
}

/** Every page but the last has `limit` records. */
async function hasFullPages({ session }: Context, list: List): Promise<void> {
  const { limit, pages } = await session.walk(list)
  const continued = pages.filter(({ cursor }) => cursor !== undefined)
  need(continued.length > 0, 'no page has a next_page_cursor')
  for (const { items, exchange } of continued) {
    hold(
      items.length >= limit,
      `a page of ${items.length} records has a next_page_cursor`,
      exchange,
    )
  }
}

/** The records of the sample that no page has and that are still there afterwards. */
async function lostOf(session: Session, list: List, pages: readonly Page[]) {
  const walked = new Set(pages.flatMap(({ items }) => items.map(idOf)))
  const { items } = await session.sample(list)
  const last = pages.at(-1)
  if (last === undefined) return []
  // A walk that was cut short says nothing about what comes after it.
  const reached = upTo({ ...last, isWhole: last.cursor === undefined }, items, list)
  const missing = reached.map(idOf).filter((id) => !walked.has(id))
  if (missing.length === 0) return []
  const again = await session.items(list, { limit: await session.limitOf(list) })
  const still = new Set(again.items.map(idOf))
  return missing.filter((id) => still.has(id))
}

const kindOf = (cursor: unknown): string =>
  cursor === null ? 'null' : cursor === '' ? 'an empty text' : 'there'

/** Cursors: opaque, tamper-evident, and good for the list that they were issued for. */
export const cursorStatements: Checks = {
  'cursors.form': each(async ({ session }, list) => {
    const { pages } = await session.walk(list)
    const [first] = pages
    const cursor = await cursorOf(session, list)
    if (first !== undefined) {
      hold(/^[\w-]+$/.test(cursor), 'next_page_cursor has other characters', first.exchange)
    }
  }),
  'cursors.empty': each(async ({ session }, list) => {
    const { items } = await session.items(list, { limit: '1' })
    needRecords(items)
    const answered = await session.list(list, { page_cursor: '', limit: '1' })
    holdStatus(answered, 200)
    const [first] = sampleOf(answered, list).items
    const isFirst = first !== undefined && idOf(first) === items.map(idOf)[0]
    hold(isFirst, 'it is not the first page', answered)
  }),
  'cursors.altered': each(async ({ session }, list) => {
    const cursor = await cursorOf(session, list)
    const middle = Math.floor(cursor.length / 2)
    const other = cursor[middle] === 'A' ? 'B' : 'A'
    const altered = `${cursor.slice(0, middle)}${other}${cursor.slice(middle + 1)}`
    for (const page_cursor of [altered, cursor.slice(0, -4), 'invented']) {
      await isRefused(session, list, { page_cursor })
    }
  }),
  'cursors.order': each(async ({ session }, list) => {
    const page_cursor = await cursorOf(session, list)
    await isRefused(session, list, { page_cursor, order: 'ASC' })
  }),
  'cursors.filters': each(async ({ session }, list) => {
    const page_cursor = await cursorOf(session, list)
    await isRefused(session, list, { page_cursor, [list.ids]: session.newId() })
  }),
  'cursors.list': each(async ({ session }, list) => {
    const page_cursor = await cursorOf(session, list)
    const another = lists.find((one) => one !== list && session.hasScope(one.scope))
    need(another !== undefined, 'the client can read no other list')
    await session.sample(another)
    await isRefused(session, another, { page_cursor })
  }),
}

/** The cursor of a first page. */
export async function cursorOf(session: Session, list: List): Promise<string> {
  const { pages } = await session.walk(list)
  const cursor = pages[0]?.cursor
  need(cursor !== undefined, 'its first page has no next_page_cursor')
  return cursor
}

async function isRefused(session: Session, list: List, query: Query): Promise<void> {
  holdStatus(await session.list(list, query), 400)
}
