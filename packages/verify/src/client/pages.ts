import { counted, systemTime } from '@bursar/base'
import type { List } from '../contract.ts'
import { type Item, isItem, memberOf, textOf, timeOf } from '../json.ts'
import { type Evidence, need } from '../verdicts.ts'
import { verifyLimits } from '../verify-limits.ts'
import type { Query } from '../ways.ts'
import type { Exchange } from './exchange.ts'

/** Some records of a list. */
export type Sample = {
  readonly exchange: Exchange
  readonly items: readonly Item[]
  /** Whether the list has no further record. */
  readonly isWhole: boolean
}

export type Page = {
  readonly exchange: Evidence
  readonly items: readonly Item[]
  readonly cursor: string | undefined
}

/** The pages of a walk, from the first on. */
export type Pages = {
  readonly pages: readonly Page[]
  readonly items: readonly Item[]
  /** Whether the last page is the last of the list. */
  readonly isWhole: boolean
  /** Why the walk stopped before the end of the list. */
  readonly stopped?: string
}

/** Follows the cursors of a list for a bounded number of pages and a bounded time. */
export async function readPages(
  session: { items(list: List, query: Query): Promise<Sample> },
  list: List,
  query: Query,
  pagesMax: number,
  first?: Sample,
): Promise<Pages> {
  using deadline = systemTime.deadline(verifyLimits.walkMs)
  const { signal } = deadline
  const pages: Page[] = []
  for (let next: string | undefined = ''; next !== undefined; next = pages.at(-1)?.cursor) {
    if (pages.length === pagesMax || signal.aborted) return stoppedAt(pages, signal.aborted)
    const isFirst = pages.length === 0 && first !== undefined
    const more = next === '' ? query : { ...query, page_cursor: next }
    const { exchange, items } = isFirst ? first : await session.items(list, more)
    pages.push({ exchange: shortened(exchange), items, cursor: cursorOf(exchange) })
  }
  return { pages, items: pages.flatMap(({ items }) => items), isWhole: true }
}

function stoppedAt(pages: readonly Page[], isLate: boolean): Pages {
  const items = pages.flatMap((page) => page.items)
  const time = isLate ? ` and ${verifyLimits.walkMs / 1000} s` : ''
  const stopped = `read no further than ${counted(pages.length, 'page')}${time}: ${counted(items.length, 'record')}`
  return { pages, items, isWhole: false, stopped }
}

/** The text of a large page is not kept; a fault in it shows its own part. */
function shortened({ text, body: _body, headers: _headers, ...rest }: Exchange): Evidence {
  return text.length > verifyLimits.keptTextMax ? rest : { ...rest, text }
}

/** The records in the answer of a list; not testable unless it has some form of them. */
export function sampleOf(exchange: Exchange, list: List): Sample {
  const found = memberOf(exchange.body, list.envelope)
  needList(exchange, list)
  need(exchange.status === 200 && Array.isArray(found), `it answers HTTP ${exchange.status}`)
  return { exchange, items: found.filter(isItem), isWhole: cursorOf(exchange) === undefined }
}

/** Not testable where the target may do without the list. */
export function needList({ status }: Exchange, list: List): void {
  const isAbsent = list.isMentionedOnly === true && status === 404
  need(!isAbsent, 'the target does not have the list, whose path the contract does not show')
}

/** The next cursor. Null and an empty text end a walk too; one statement is about them. */
function cursorOf({ body }: Exchange): string | undefined {
  const cursor = textOf(body, 'next_page_cursor')
  return cursor === '' ? undefined : cursor
}

/** Those of the items that the page reaches in its order: all of them where it is the last. */
export function upTo(
  page: Pick<Sample, 'items' | 'isWhole'>,
  items: readonly Item[],
  list: List,
  order: 'ASC' | 'DESC' = 'DESC',
): readonly Item[] {
  const end = page.items.at(-1)
  const endTime = end && timeOf(end, list.sortedBy)
  if (page.isWhole || endTime === undefined) return items
  return items.filter((item) => {
    const time = timeOf(item, list.sortedBy) ?? endTime
    return order === 'ASC' ? time < endTime : time > endTime
  })
}
