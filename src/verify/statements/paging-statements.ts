import type { Statement } from '../check-statement.ts'
import { needRecords, type Session } from '../client/client-session.ts'
import { needList, type Page, upTo } from '../client/pages.ts'
import { issuerQuotes, type List, lists, pageSize } from '../contract.ts'
import { idOf, isItem, memberOf } from '../json.ts'
import { contract, guide, type Source } from '../source.ts'
import { hold, holdStatus, need } from '../verdicts.ts'

/** Pages: what a client that follows the cursors gets. */
export const pagingStatements: readonly Statement[] = [
  {
    id: 'paging.envelope',
    says: 'A list is answered 200 as application/json with an array of objects.',
    source: contract(),
    checkList: async ({ session }, list) => {
      session.needScope(list.scope)
      const answered = await session.list(list, { limit: '1' })
      needList(answered, list)
      holdStatus(answered, 200)
      const type = answered.headers.get('content-type') ?? ''
      hold(/^application\/json\b/.test(type), 'it is not application/json', answered)
      const found = memberOf(answered.body, list.envelope)
      hold(Array.isArray(found), `${list.envelope} must be an array`, answered)
      hold(found.every(isItem), `${list.envelope} must hold objects`, answered)
    },
  },
  {
    id: 'paging.empty',
    says: 'A list without a match is answered 200 with an empty array.',
    source: guide('Pages'),
    checkList: async ({ session }, list) => {
      await session.sample(list)
      const answered = await session.list(list, { [list.ids]: session.newId() })
      const found = memberOf(answered.body, list.envelope)
      holdStatus(answered, 200)
      hold(Array.isArray(found), `${list.envelope} must be an array`, answered)
    },
  },
  {
    id: 'paging.limit',
    says: 'A page has at most limit records.',
    source: contract(),
    checkList: async ({ session }, list) => {
      const { limit, pages } = await session.walk(list)
      for (const { items, exchange } of pages) {
        hold(items.length <= limit, `the page has ${items.length} records`, exchange)
      }
    },
  },
  {
    id: 'paging.default-limit',
    says: 'A page without a limit has 100 records if there are more.',
    source: contract(),
    checkList: async ({ session }, list) => {
      const { items } = await session.sample(list)
      need(items.length > pageSize.default, `it has at most ${pageSize.default} records`)
      const { items: shown, exchange } = await session.items(list, {})
      hold(shown.length === pageSize.default, `the page has ${shown.length} records`, exchange)
    },
  },
  fullPages(
    'paging.short-page',
    'A page of issuer quotes with fewer than limit records has no next page.',
    contract('4.6'),
    [issuerQuotes],
  ),
  fullPages(
    'paging.full-pages',
    'Every page but the last has limit records, in the other lists too.',
    guide('Pages'),
    lists.filter((list) => list !== issuerQuotes),
  ),
  {
    id: 'paging.last-cursor',
    says: 'The last page has no next_page_cursor: neither null nor an empty text.',
    source: guide('Pages'),
    checkList: async ({ session }, list) => {
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
    },
  },
  {
    id: 'paging.each-once',
    says: 'No record appears twice from the first page to the last.',
    source: guide('Pages'),
    checkList: async ({ session }, list) => {
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
    },
  },
  {
    id: 'paging.nothing-lost',
    says: 'Every record that is there all the time appears from the first page to the last.',
    source: guide('Pages'),
    checkList: async ({ session }, list) => {
      const { pages } = await session.walk(list)
      const missing = await lostOf(session, list, pages)
      const [id] = missing
      const last = pages.at(-1)
      const says = `${missing.length} records are in no page, such as ${id}`
      if (last !== undefined) hold(missing.length === 0, says, last.exchange)
    },
  },
  {
    id: 'paging.limit-change',
    says: 'The limit may change between pages.',
    source: guide('Pages'),
    checkList: async ({ session }, list) => {
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
    },
  },
]

function fullPages(id: string, says: string, source: Source, of: readonly List[]): Statement {
  return {
    id,
    says,
    source,
    lists: of,
    checkList: async ({ session }, list) => {
      const { limit, pages } = await session.walk(list)
      const continued = pages.filter(({ cursor }) => cursor !== undefined)
      need(continued.length > 0, 'no page has a next_page_cursor')
      for (const { items, exchange } of continued) {
        const fault = `a page of ${items.length} records has a next_page_cursor`
        hold(items.length >= limit, fault, exchange)
      }
    },
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
