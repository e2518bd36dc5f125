import { type Checks, each } from '../check-statement.ts'
import { needRecords, type Session } from '../client/client-session.ts'
import { sampleOf } from '../client/pages.ts'
import { type List, lists } from '../contract.ts'
import { idOf } from '../json.ts'
import { hold, holdStatus, need } from '../verdicts.ts'
import type { Query } from '../ways.ts'

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
