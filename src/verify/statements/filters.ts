import { printInstant } from '../../values/instant.ts'
import { type Item, idOf, present, textOf } from '../json.ts'
import { fiatAccounts, type List, lists } from '../lists.ts'
import { itHas, type Query, type Sample, type Session } from '../session.ts'
import type { Statement } from '../statement.ts'
import { hold, need } from '../verdicts.ts'
import { timeOf } from './order.ts'

const shownFilters = [...new Set(lists.flatMap(({ filters }) => Object.keys(filters)))]
const addedFilters = [...new Set(lists.flatMap(({ additions }) => Object.keys(additions)))]
const shownBounds = [...new Set(lists.flatMap(({ bounds }) => Object.keys(bounds)))]

/** Filters: each shows the records that match, all of them, and no other. */
export const filterStatements: readonly Statement[] = [
  ...shownFilters.map((name) => filterStatement('filters', name)),
  ...addedFilters.map((name) => filterStatement('additions', name)),
  ...shownBounds.map(boundStatement),
  {
    id: 'filters.combined',
    says: 'Different filters are joined by AND.',
    source: 'bursar',
    lists: lists.filter(({ filters, additions }) => 'ref_ids' in { ...filters, ...additions }),
    checkList: async ({ session }, list) => {
      const { items } = await session.sample(list)
      const [first, second] = items.filter((item) => textOf(item, 'ref_id') !== undefined)
      need(first !== undefined && second !== undefined, 'no two records have a ref_id')
      const ref_ids = textOf(second, 'ref_id') ?? ''
      const none = await session.items(list, { [list.ids]: idOf(first), ref_ids })
      hold(none.items.length === 0, 'a record is shown that only one filter matches', none.exchange)
      const both = await session.items(list, { [list.ids]: [idOf(first), idOf(second)], ref_ids })
      const isIt = both.items.length === 1 && both.items.every((one) => idOf(one) === idOf(second))
      hold(isIt, 'the one record that both filters match is not shown alone', both.exchange)
    },
  },
  {
    id: 'filters.include_deleted',
    says: 'include_deleted=true shows the other accounts too, and false shows the same as none.',
    source: 'contract',
    lists: [fiatAccounts],
    checkList: async ({ session }, list) => {
      const { items } = await session.sample(list)
      const every = await session.items(list, { include_deleted: 'true', limit: '1000' })
      need(every.items.length > 0, itHas(every.items))
      const shown = new Set(every.items.map(idOf))
      // Deleted accounts may push the oldest of the sample off the page.
      const missing = upTo(every, items, list).find((item) => !shown.has(idOf(item)))
      hold(missing === undefined, 'an account that is not deleted is missing', every.exchange)
      const live = await session.items(list, { include_deleted: 'false', limit: '1000' })
      const known = new Set(items.map(idOf))
      const deleted = live.items.find((item) => !known.has(idOf(item)))
      hold(deleted === undefined, 'false shows an account that the list hides', live.exchange)
    },
  },
]

function filterStatement(group: 'filters' | 'additions', name: string): Statement {
  const of = (list: List) => list[group][name]
  return {
    id: `${group}.${name}`,
    says: `The filter ${name} shows exactly the records that match one of its values.`,
    source: group === 'filters' ? 'contract' : 'bursar',
    lists: lists.filter((list) => of(list) !== undefined),
    checkList: ({ session }, list) => checkFilter(session, list, name, of(list) ?? ''),
  }
}

/** Two values that occur, where the filter takes several; then one that no record has. */
async function checkFilter(session: Session, list: List, name: string, member: string) {
  const { items } = await session.sample(list)
  const values = [...new Set(items.map((item) => textOf(item, member)).filter(present))]
  const [value] = values
  need(value !== undefined, items.length === 0 ? itHas(items) : `no record has a ${member}`)
  const isArray = name !== 'profile_id'
  const chosen = isArray && values.length > 2 ? [value, values.at(-1) ?? value] : [value]
  await selects(session, list, { [name]: chosen }, (item) =>
    chosen.includes(textOf(item, member) ?? ''),
  )
  const isVocabulary = ['status', 'crypto_network'].includes(member)
  need(!isVocabulary || values.length > 1, `all its records have the same ${member}`)
  if (!isVocabulary) await selects(session, list, { [name]: crypto.randomUUID() }, () => false)
}

function boundStatement(name: string): Statement {
  return {
    id: `filters.${name}`,
    says: `The bound ${name} shows exactly the records on its side, to the microsecond.`,
    source: 'contract',
    lists: lists.filter(({ bounds }) => name in bounds),
    checkList: async ({ session }, list) => {
      const { items } = await session.sample(list)
      const times = items.map((item) => timeOf(item, list)).filter(present)
      const bound = times[Math.floor(times.length / 2)]
      const accepts = list.bounds[name]
      need(bound !== undefined && accepts !== undefined, itHas(items))
      await selects(session, list, { [name]: printInstant(bound) }, (item) => {
        const time = timeOf(item, list)
        return time !== undefined && accepts(time, bound)
      })
      // One microsecond beside the record's own time, so that it alone changes sides.
      const beside = bound + (name.endsWith('gt') || name.endsWith('end') ? -1n : 1n)
      await selects(session, list, { [name]: printInstant(beside) }, (item) => {
        const time = timeOf(item, list)
        return time !== undefined && accepts(time, beside)
      })
    },
  }
}

/** The answer shows matching records only, and all of those that the sample has. */
async function selects(
  session: Session,
  list: List,
  query: Query,
  matches: (item: Item) => boolean,
): Promise<void> {
  const sample = await session.sample(list)
  const found = await session.items(list, { ...query, limit: '1000' })
  const wrong = found.items.find((item) => !matches(item))
  hold(wrong === undefined, `the record ${wrong && idOf(wrong)} does not match`, found.exchange)
  const shown = new Set(found.items.map(idOf))
  const missing = sample.items.find((item) => matches(item) && !shown.has(idOf(item)))
  hold(missing === undefined, `the record ${missing && idOf(missing)} is missing`, found.exchange)
}

/** Those of the items that the page reaches in its order: all of them where it is the last. */
export function upTo(
  page: Pick<Sample, 'items' | 'isWhole'>,
  items: readonly Item[],
  list: List,
  order: 'ASC' | 'DESC' = 'DESC',
): readonly Item[] {
  const end = page.items.at(-1)
  const endTime = end && timeOf(end, list)
  if (page.isWhole || endTime === undefined) return items
  return items.filter((item) => {
    const time = timeOf(item, list) ?? endTime
    return order === 'ASC' ? time < endTime : time > endTime
  })
}
