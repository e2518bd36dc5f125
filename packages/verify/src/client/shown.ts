import type { List } from '../contract.ts'
import { type Item, idOf } from '../json.ts'
import { ifNotTestable } from '../verdicts.ts'
import { verifyLimits } from '../verify-limits.ts'
import { type Query, waysToAny } from '../ways.ts'
import type { Session, Shown } from './client-session.ts'
import { readPages, upTo } from './pages.ts'

/** Pages that a target does not answer are left to the statement about their parameters. */
export async function readShown(session: Session, list: List): Promise<readonly Shown[]> {
  const { items } = await session.whole(list)
  const { deletedFlag } = list
  const deleted = await session.deleted(list).catch(ifNotTestable)
  const everything = { limit: await session.limitOf(list) }
  const ways = [
    ...waysToAny(items, list),
    { name: 'order', query: { ...everything, order: 'ASC' } },
    ...(deletedFlag === undefined
      ? []
      : [{ name: deletedFlag, query: { ...everything, [deletedFlag]: 'true' } }]),
    ...(deleted === undefined ? [] : waysToAny([deleted], list)),
  ]
  const shown: Shown[] = []
  for (const { name, query } of ways) {
    const page = await session.items(list, query).catch(ifNotTestable)
    if (page !== undefined) shown.push({ ...page, by: name })
  }
  return shown
}

/** A record among the newest or the oldest that is shown with the flag only. */
export async function findDeleted(session: Session, list: List): Promise<Item | undefined> {
  const { deletedFlag } = list
  if (deletedFlag === undefined) return undefined
  const whole = await session.whole(list)
  const limit = await session.limitOf(list)
  const read = (query: Query) => readPages(session, list, query, verifyLimits.deepPagesMax)
  for (const order of ['ASC', 'DESC'] as const) {
    const every = await read({ order, limit, [deletedFlag]: 'true' })
    const live = whole.isWhole ? whole : await read({ order, limit })
    const ids = new Set(live.items.map(idOf))
    const deleted = upTo(live, every.items, list, order).find((item) => !ids.has(idOf(item)))
    if (deleted !== undefined) return deleted
    if (every.isWhole) return undefined
  }
  return undefined
}
