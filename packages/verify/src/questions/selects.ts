import type { Session } from '../client/client-session.ts'
import { events, type Feed, readFeed } from '../client/feed.ts'
import { sampleOf, upTo } from '../client/pages.ts'
import { filtersOf, type List } from '../contract.ts'
import { type Item, idOf, present, timeOf } from '../json.ts'
import { Broken, hold, need } from '../verdicts.ts'
import { byBound, byValues, type Condition, type Query, valuesOf } from '../ways.ts'

/** The answer shows matching records only, and all of those that are known. */
export async function selects(
  session: Session,
  list: List,
  { query, matches }: Omit<Condition, 'name'>,
  by = '',
): Promise<void> {
  const known = await session.whole(list)
  const limit = await session.limitOf(list)
  const answered = await session.list(list, { ...query, limit })
  hold(answered.status < 500, `it must be answered${by}`, answered)
  const found = sampleOf(answered, list)
  const wrong = found.items.find((item) => !matches(item))
  const says = `the record ${wrong && idOf(wrong)} does not match${by}`
  hold(wrong === undefined, says, { ...answered, part: wrong })
  const shown = new Set(found.items.map(idOf))
  const missing = upTo(found, known.items, list).find(
    (item) => matches(item) && !shown.has(idOf(item)),
  )
  hold(missing === undefined, `the record ${missing && idOf(missing)} is missing${by}`, answered)
}

/** The query shows matching events only, and all of those that are known, as far as it was read. */
export async function selectsEvents(
  session: Session,
  query: Query,
  matches: (event: Item) => boolean,
  token?: string,
): Promise<void> {
  const { items: known } = await feedOf(session)
  const limited = { ...query, limit: String(events.limitMax) }
  const found = await readFeed(session, limited, token === undefined ? {} : { token })
  for (const { items, exchange } of found.pages) {
    const wrong = items.find((event) => !matches(event))
    const evidence = { ...exchange, part: wrong }
    hold(wrong === undefined, `the event ${wrong && idOf(wrong)} does not match`, evidence)
  }
  const shown = new Set(found.items.map(idOf))
  const lastShown = known.findLastIndex((event) => shown.has(idOf(event)))
  const end = found.isWhole ? known.length : lastShown + 1
  const missing = known.slice(0, end).find((event) => matches(event) && !shown.has(idOf(event)))
  const [first] = found.pages
  if (first === undefined) return
  hold(missing === undefined, `the event ${missing && idOf(missing)} is missing`, first.exchange)
}

/** The feed; not testable without an event. */
export async function feedOf(session: Session): Promise<Feed> {
  const feed = await session.feed()
  need(feed.items.length > 0, 'there is no event')
  return feed
}

/** A filter or bound, and those of the tried records that it selects. */
type Tried = Condition & { readonly selected: ReadonlySet<Item> }

/** How many values of each filter, and how many records, are tried to tell two filters apart. */
const VALUES_TRIED = 4
const RECORDS_TRIED = 200

/**
 * Each two filters, and each filter with each bound, with values that tell AND from OR and from
 * either of them ignored.
 */
export async function checkPairs(session: Session, list: List): Promise<string | undefined> {
  const { items: every } = await session.sample(list)
  const items = every.slice(0, RECORDS_TRIED)
  const tried = (condition: Condition): Tried => ({
    ...condition,
    selected: new Set(items.filter(condition.matches)),
  })
  const filters = Object.entries(filtersOf(list)).map(([name, filter]) =>
    spread(valuesOf(items, filter.member)).map((value) => tried(byValues(name, filter, [value]))),
  )
  // At times from the middle of the records.
  const times = items.map((item) => timeOf(item, list.sortedBy)).filter(present)
  const bounds = Object.keys(list.bounds).map((name) =>
    spread(times.slice(1, -1)).map((bound) => tried(byBound(name, list, bound))),
  )
  const pairs = filters.flatMap((one, at) =>
    [...filters.slice(at + 1), ...bounds].map((other) => bestOf(one, other)),
  )
  const testable = pairs.filter(present)
  need(testable.length > 0, 'no two filters can be told apart by its records')
  for (const [one, other] of testable) {
    const both = {
      name: `${one.name} and ${other.name}`,
      query: { ...one.query, ...other.query },
      matches: (item: Item) => one.matches(item) && other.matches(item),
    }
    const fault = await faultOf(session, list, both)
    // Another statement covers a filter that is wrong alone.
    const isOwn = fault && !(await isWrongAlone(session, list, [one, other]))
    if (isOwn) throw fault
  }
  const left = pairs.length - testable.length
  return left === 0 ? undefined : `its records tell ${left} of ${pairs.length} pairs not apart`
}

async function isWrongAlone(session: Session, list: List, pair: Pair): Promise<boolean> {
  const [one, other] = pair
  return (
    (await faultOf(session, list, one)) !== undefined ||
    (await faultOf(session, list, other)) !== undefined
  )
}

async function faultOf(
  session: Session,
  list: List,
  condition: Condition,
): Promise<Broken | undefined> {
  try {
    await selects(session, list, condition, ` by ${condition.name}`)
    return undefined
  } catch (error) {
    if (error instanceof Broken) return error
    throw error
  }
}

/** A few of the values, from the first to the last. */
function spread<T>(values: readonly T[]): readonly T[] {
  const step = Math.max(1, (values.length - 1) / (VALUES_TRIED - 1))
  return values.filter((_, at) => Math.round(Math.round(at / step) * step) === at)
}

type Pair = readonly [Tried, Tried]

/** The pair that shows the most; undefined if both filters select what one of them selects. */
function bestOf(ones: readonly Tried[], others: readonly Tried[]): Pair | undefined {
  const pairs = ones.flatMap((one) => others.map((other): Pair => [one, other]))
  const scored = pairs.map((pair) => ({ pair, score: scoreOf(pair) }))
  const best = scored.toSorted((a, b) => b.score - a.score).at(0)
  return best !== undefined && best.score > 1 ? best.pair : undefined
}

/** Records that one of the two filters alone selects count most; then one that both select. */
function scoreOf([{ selected: first }, { selected: second }]: Pair): number {
  const isFirst = first.difference(second).size > 0
  const isSecond = second.difference(first).size > 0
  const isBoth = !first.isDisjointFrom(second)
  return (isFirst ? 2 : 0) + (isSecond ? 2 : 0) + (isBoth ? 1 : 0)
}
