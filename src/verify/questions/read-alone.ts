import { needRecords, type Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import type { List } from '../contract.ts'
import { type Item, pathIdOf } from '../json.ts'
import { verifyLimits } from '../verify-limits.ts'

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
