import { type Check, type Checks, each, eachOf } from '../check-statement.ts'
import { needRecords, type Session } from '../client/client-session.ts'
import { upTo } from '../client/pages.ts'
import { type Filter, fiatAccounts, type List, lists } from '../contract.ts'
import { idOf, present, timeOf } from '../json.ts'
import { checkPairs, selects } from '../questions/selects.ts'
import { hold, need } from '../verdicts.ts'
import { byBound, byValues, valuesOf, waysTo } from '../ways.ts'

const shownFilters = [...new Set(lists.flatMap(({ filters }) => Object.keys(filters)))]
const addedFilters = [...new Set(lists.flatMap(({ additions }) => Object.keys(additions)))]
const shownBounds = [...new Set(lists.flatMap(({ bounds }) => Object.keys(bounds)))]

/** Filters: each shows the records that match, all of them, and no other. */
export const filterStatements: Checks = {
  ...byName('filters.{filter}', shownFilters, (name) => filterCheck('filters', name)),
  ...byName('additions.{filter}', addedFilters, (name) => filterCheck('additions', name)),
  ...byName('filters.{bound}', shownBounds, boundCheck),
  'filters.combined': each(({ session }, list) => checkPairs(session, list)),
  'filters.include_deleted': eachOf([fiatAccounts], async ({ session }, list) => {
    const { items } = await session.sample(list)
    const limit = await session.limitOf(list)
    const every = await session.items(list, { include_deleted: 'true', limit })
    needRecords(every.items)
    const shown = new Set(every.items.map(idOf))
    // Deleted accounts may push the oldest of the sample off the page.
    const missing = upTo(every, items, list).find((item) => !shown.has(idOf(item)))
    hold(missing === undefined, 'an account that is not deleted is missing', every.exchange)
    const live = await session.items(list, { include_deleted: 'false', limit })
    const known = new Set(items.map(idOf))
    const deleted = live.items.find((item) => !known.has(idOf(item)))
    hold(deleted === undefined, 'false shows an account that the list hides', live.exchange)
  }),
  'filters.deleted': eachOf([fiatAccounts], async ({ session }, list) => {
    const deleted = await session.deleted(list)
    need(deleted !== undefined, 'no account is deleted')
    const limit = await session.limitOf(list)
    const oldest = { name: 'order', query: { order: 'ASC', limit } }
    for (const { name, query } of [oldest, ...waysTo(deleted, list)]) {
      const isFlagged = 'include_deleted' in query
      const queries = isFlagged ? [query] : [query, { ...query, include_deleted: 'false' }]
      for (const each of queries) {
        const { exchange, items, isWhole } = await session.items(list, each)
        const isShown = items.some((item) => idOf(item) === idOf(deleted))
        const says = `the deleted account ${idOf(deleted)} is ${isShown ? 'shown' : 'missing'} by ${name}`
        hold(isShown === isFlagged || (isFlagged && !isWhole), says, exchange)
      }
    }
  }),
}

/** Checks of a law that stands for all filters or bounds, by the ids of each. */
function byName(law: string, names: readonly string[], checkOf: (name: string) => Check): Checks {
  const idOfEach = (name: string) => law.replace(/\{\w+\}/, name)
  return Object.fromEntries(names.map((name) => [idOfEach(name), { ...checkOf(name), law }]))
}

function filterCheck(group: 'filters' | 'additions', name: string): Check {
  const of = lists.filter((list) => list[group][name] !== undefined)
  return eachOf(of, async ({ session }, list) => {
    const filter = list[group][name]
    return filter && checkFilter(session, list, name, filter)
  })
}

/** Two values that occur, where the filter takes several; then one that no record has. */
async function checkFilter(session: Session, list: List, name: string, filter: Filter) {
  const { member, entriesMax, isEnum } = filter
  const { items } = await session.sample(list)
  needRecords(items)
  const first = valuesOf(items, member)
  // No record of the sample may have it.
  const values = first.length > 0 ? first : valuesOf((await session.whole(list)).items, member)
  const [value] = values
  need(value !== undefined, `no record has a ${member}`)
  const chosen = entriesMax > 1 && values.length > 2 ? [value, values.at(-1) ?? value] : [value]
  await selects(session, list, byValues(name, filter, chosen))
  need(!isEnum || values.length > 1, `all its records have the same ${member}`)
  if (!isEnum) await selects(session, list, byValues(name, filter, [session.newId()]))
}

function boundCheck(name: string): Check {
  const of = lists.filter(({ bounds }) => name in bounds)
  return eachOf(of, async ({ session }, list) => {
    const { items } = await session.sample(list)
    needRecords(items)
    const times = items.map((item) => timeOf(item, list.sortedBy)).filter(present)
    const bound = times[Math.floor(times.length / 2)]
    need(bound !== undefined, 'no record has a time')
    // One microsecond beside the record's own time, so that it alone changes sides.
    for (const at of [bound, bound - 1n, bound + 1n]) {
      await selects(session, list, byBound(name, list, at))
    }
  })
}
