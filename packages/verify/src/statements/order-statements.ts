import { type Checks, each } from '../check-statement.ts'
import { needRecords } from '../client/client-session.ts'
import type { Page } from '../client/pages.ts'
import type { List } from '../contract.ts'
import { type Item, idOf, timeOf } from '../json.ts'
import { hold, need } from '../verdicts.ts'

/** The order of lists: by time of creation, statements by the start of their period. */
export const orderStatements: Checks = {
  'order.default': each(async ({ session }, list) => {
    const whole = await session.whole(list)
    needTimes(whole.items, list)
    isSorted(whole.pages, list, -1)
    isSorted((await session.walk(list)).pages, list, -1)
    return whole.stopped
  }),
  'order.ascending': each(async ({ session }, list) => {
    const sample = await session.sample(list)
    needTimes(sample.items, list)
    const limit = await session.limitOf(list)
    const { exchange, items } = await session.items(list, { order: 'ASC', limit })
    isSorted([{ exchange, items }], list, 1)
    const [first, newest] = [items[0], sample.items[0]].map(
      (item) => item && timeOf(item, list.sortedBy),
    )
    const isOldest = first !== undefined && newest !== undefined && first < newest
    hold(isOldest, 'the page starts with the newest record', exchange)
  }),
  'order.descending': each(async ({ session }, list) => {
    const sample = await session.sample(list)
    needRecords(sample.items, 2)
    const limit = String(Math.min(sample.items.length, 50))
    const { exchange, items } = await session.items(list, { order: 'DESC', limit })
    isSorted([{ exchange, items }], list, -1)
  }),
  'order.ties': each(async ({ session }, list) => {
    const { pages, items } = await session.whole(list)
    const ties = items.slice(1).flatMap((item, at) => {
      const previous = items[at]
      const time = timeOf(item, list.sortedBy)
      const isTie = previous !== undefined && time === timeOf(previous, list.sortedBy)
      return isTie && time !== undefined ? [{ previous, item }] : []
    })
    need(ties.length > 0, 'no two records have the same time')
    for (const { previous, item } of ties) {
      const isOrdered = idOf(previous) >= idOf(item)
      const evidence = pages.find((page) => page.items.includes(item))?.exchange
      const says = `${idOf(previous)} comes before ${idOf(item)}`
      if (evidence !== undefined) hold(isOrdered, says, evidence)
    }
  }),
}

function needTimes(items: readonly Item[], list: List): void {
  needRecords(items, 2)
  const times = new Set(items.map((item) => timeOf(item, list.sortedBy)))
  need(times.size > 1, 'all its records have the same time')
}

type PageOfItems = Pick<Page, 'exchange' | 'items'>

/** Records whose time cannot be read are left to the statement about timestamps. */
function isSorted(pages: readonly PageOfItems[], list: List, direction: 1 | -1): void {
  let before: bigint | undefined
  for (const { exchange, items } of pages) {
    for (const item of items) {
      const time = timeOf(item, list.sortedBy)
      if (time === undefined) continue
      const isBehind = before === undefined || (direction === 1 ? time >= before : time <= before)
      hold(isBehind, `the record ${idOf(item)} is not in its place by ${list.sortedBy}`, exchange)
      before = time
    }
  }
}
