import { alone, type Checks, type Context, each, eachOf, once } from '../check-statement.ts'
import type { Session } from '../client/client-session.ts'
import { depositAddresses, fiatDepositInstructions, type List, statements } from '../contract.ts'
import { type Item, idOf, memberOf, present, textOf } from '../json.ts'
import { forEachPart, forEachShown } from '../questions/each-record.ts'
import { hold, holdStatus, ifNotTestable, need } from '../verdicts.ts'
import { readQueriesOf, type Way, waysToAny } from '../ways.ts'
import { cursorOf } from './paging-statements.ts'

/** One customer's records never show to another. */
export const isolationStatements: Checks = {
  'isolation.own-customer': eachOf(
    [statements, fiatDepositInstructions, depositAddresses],
    async ({ session }, list) => {
      const customer = await session.customer()
      return forEachPart(session, list, customers, (named, { item, evidence, by }) =>
        hold(named === customer, `the record ${idOf(item)} names another customer${by}`, evidence),
      )
    },
  ),
  'isolation.lists': each(async (context, list) => {
    const other = await otherOf(context)
    const own = await context.session.whole(list)
    const ids = new Set(own.items.map(idOf).filter((id) => id !== ''))
    const { pages, items, stopped } = await other.whole(list)
    need(items.length > 0, 'the other customer has no record')
    for (const { exchange, items: found } of pages) {
      const shared = found.find((item) => ids.has(idOf(item)))
      hold(shared === undefined, `both customers see ${shared && idOf(shared)}`, exchange)
    }
    return stopped ?? own.stopped
  }),
  'isolation.filters': each(async (context, list) => {
    const { session } = context
    const { ids, ways } = await foreignOf(context, list)
    for (const { name, query } of ways) {
      const found = await session.items(list, query).catch(ifNotTestable)
      const foreign = found?.items.find((item) => ids.has(idOf(item)))
      if (foreign === undefined || found === undefined) continue
      hold(false, showsForeign(foreign, `, by ${name}`), { ...found.exchange, part: foreign })
    }
    return forEachShown(session, list, ({ item, evidence, by }) =>
      hold(by === '' || !ids.has(idOf(item)), showsForeign(item, by), evidence),
    ).catch(ifNotTestable)
  }),
  'isolation.reads': alone(async (context, { list }) => {
    const { session } = context
    const { items, deleted } = await foreignOf(context, list)
    for (const foreign of [items[0], deleted]) {
      for (const query of readQueriesOf(list)) {
        if (foreign !== undefined) await isUnknown(session, list, idOf(foreign), query)
      }
    }
  }),
  'isolation.statements': once(async (context) => {
    const { session } = context
    const { items, other } = await foreignOf(context, statements)
    const customer_id = await other.customer()
    need(customer_id !== undefined, 'the other customer is not known')
    const plain = { name: 'customer_id', query: {} }
    for (const { name, query } of [plain, ...waysToAny(items, statements)]) {
      const answered = await session.list(statements, { customer_id, ...query })
      const found = memberOf(answered.body, statements.envelope)
      hold(answered.status === 200, `the status must be 200 by ${name}`, answered)
      const isEmpty = !Array.isArray(found) || found.length === 0
      hold(isEmpty, `it shows the other customer’s statements by ${name}`, answered)
    }
  }),
  'isolation.cursors': each(async (context, list) => {
    const other = await otherOf(context)
    await context.session.sample(list)
    const page_cursor = await cursorOf(other, list)
    holdStatus(await context.session.list(list, { page_cursor }), 400)
  }),
  'isolation.introspection': once(async (context) => {
    const other = await otherOf(context)
    const { tokens } = context.session
    const own = await tokens.introspect(tokens.all)
    need(memberOf(own.body, 'active') === true, 'the target has no introspection')
    const foreign = await tokens.introspect(other.tokens.all)
    const isHidden = foreign.status !== 200 || memberOf(foreign.body, 'active') === false
    hold(isHidden, 'active must be false', foreign)
  }),
}

const customers = {
  none: 'no record names its customer',
  of: (item: Item) => [textOf(item, 'customer_id')].filter(present),
}

const showsForeign = (item: Item, by: string): string =>
  `it shows the other customer’s record ${idOf(item)}${by}`

/** Not testable without a second client, or if it belongs to the same customer. */
export async function otherOf({ session, other }: Context): Promise<Session> {
  need(other !== undefined, 'there is no second client (--other-client-id)')
  const [own, others] = [await session.customer(), await other.customer()]
  const isSame = own !== undefined && own === others
  need(!isSame, 'both clients are of one customer; if not, name it with --customer')
  return other
}

/** What the other customer has in a list. */
type Foreign = {
  readonly other: Session
  readonly items: readonly Item[]
  readonly deleted: Item | undefined
  readonly ids: ReadonlySet<string>
  /** The queries that would reach it. */
  readonly ways: readonly Way[]
}

async function foreignOf(context: Context, list: List): Promise<Foreign> {
  const other = await otherOf(context)
  const { items } = await other.sample(list)
  need(items.length > 0, 'the other customer has no record')
  const deleted = await other.deleted(list).catch(ifNotTestable)
  const whole = await other.whole(list)
  const every = deleted === undefined ? whole.items : [...whole.items, deleted]
  const ofDeleted = deleted === undefined ? [] : waysToAny([deleted], list)
  const ways = [...waysToAny(items, list), ...ofDeleted]
  return { other, items, deleted, ids: new Set(every.map(idOf).filter((id) => id !== '')), ways }
}

async function isUnknown(
  session: Session,
  { path }: List,
  foreign: string,
  query: string,
): Promise<void> {
  const unknown = session.newId()
  const answered = await session.call(`${path}/${encodeURIComponent(foreign)}${query}`)
  const expected = await session.call(`${path}/${unknown}${query}`)
  const isSame =
    answered.status === expected.status &&
    withoutId(answered.body, foreign) === withoutId(expected.body, unknown)
  hold(isSame, 'the answer differs from that for an unknown id', answered)
}

/** A problem without what differs from request to request. */
const withoutId = (body: unknown, id: string): string =>
  JSON.stringify(body, (name, value) => (name === 'request_id' ? undefined : value))?.replaceAll(
    id,
    'ID',
  ) ?? ''
