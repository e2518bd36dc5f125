import { needRecords, type Session } from '../client/client-session.ts'
import type { List } from '../contract.ts'
import type { Item } from '../json.ts'
import { type Evidence, ifNotTestable } from '../verdicts.ts'

/** A record in an answer. `by` ends a sentence: nothing, or the parameters of the request. */
type ShownItem = { readonly item: Item; readonly evidence: Evidence; readonly by: string }

/**
 * Checks every record that a list shows: on large pages, on small ones, and by each filter and
 * bound. Returns why the whole list was not read, if so.
 */
export async function forEachShown(
  session: Session,
  list: List,
  check: (shown: ShownItem) => void,
): Promise<string | undefined> {
  const { pages, items, stopped } = await session.whole(list)
  needRecords(items)
  const walk = await session.walk(list).catch(ifNotTestable)
  const others = (await session.shown(list).catch(ifNotTestable)) ?? []
  const shown = [
    ...pages.map((page) => ({ ...page, by: '' })),
    ...(walk?.pages ?? []).map((page) => ({ ...page, by: 'page_cursor' })),
    ...others,
  ]
  for (const { exchange, items: found, by } of shown) {
    for (const item of found) {
      const evidence = { ...exchange, part: item }
      check({ item, evidence, by: by === '' ? '' : `, by ${by}` })
    }
  }
  return stopped
}
