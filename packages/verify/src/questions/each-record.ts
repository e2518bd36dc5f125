import { needRecords, type Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import type { List } from '../contract.ts'
import { type Item, pathIdOf } from '../json.ts'
import { type Evidence, ifNotTestable, need } from '../verdicts.ts'
import { verifyLimits } from '../verify-limits.ts'

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
    ...(walk?.pages ?? []).map((page) => ({ ...page, by: ', by page_cursor' })),
    ...others.map((page) => ({ ...page, by: `, by ${page.by}` })),
  ]
  for (const { exchange, items: found, by } of shown) {
    for (const item of found) check({ item, evidence: { ...exchange, part: item }, by })
  }
  return stopped
}

/** Which parts of a record a statement is about, and the reason if no record has one. */
type Parts<P> = { readonly of: (item: Item) => readonly P[]; readonly none: string }

/** Checks those parts of every record that a list shows. */
export async function forEachPart<P>(
  session: Session,
  list: List,
  { of, none }: Parts<P>,
  check: (part: P, shown: ShownItem) => void,
): Promise<string | undefined> {
  let count = 0
  const stopped = await forEachShown(session, list, (shown) => {
    for (const part of of(shown.item)) {
      count += 1
      check(part, shown)
    }
  })
  need(count > 0, none)
  return stopped
}

/** A record of a list, and the answer to its single read. */
type ReadAlone = { readonly item: Item; readonly alone: Exchange }

/** A few of the newest records of a list, each read alone. */
export async function readAlone(
  session: Session,
  list: List,
  isMeant: (item: Item) => boolean = () => true,
): Promise<readonly ReadAlone[]> {
  const { items } = await session.sample(list)
  needRecords(items)
  const read: ReadAlone[] = []
  for (const item of items.filter(isMeant).slice(0, verifyLimits.readsMax)) {
    read.push({ item, alone: await session.call(`${list.path}/${pathIdOf(item)}`) })
  }
  return read
}
