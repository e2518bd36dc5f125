import { randomUUID } from 'node:crypto'
import { idOf, memberOf, textOf } from '../json.ts'
import { depositAddresses, fiatDepositInstructions, statements } from '../lists.ts'
import type { Session } from '../session.ts'
import type { Context, Statement } from '../statement.ts'
import { hold, need } from '../verdicts.ts'
import { cursorOf } from './cursors.ts'
import { forSingleReads } from './problems.ts'

/** One customer's records never show to another. */
export const isolationStatements: readonly Statement[] = [
  {
    id: 'isolation.own-customer',
    says: 'Every record that names its customer names the same one.',
    source: 'bursar',
    lists: [statements, fiatDepositInstructions, depositAddresses],
    checkList: async ({ session }, list) => {
      const { exchange, items } = await session.sample(list)
      const customer = await session.customer()
      const named = items.filter((item) => textOf(item, 'customer_id') !== undefined)
      need(named.length > 0, 'no record names its customer')
      const foreign = named.find((item) => textOf(item, 'customer_id') !== customer)
      const says = `the record ${foreign && idOf(foreign)} names another customer`
      hold(foreign === undefined, says, exchange)
    },
  },
  {
    id: 'isolation.lists',
    says: 'No record is in the lists of two customers.',
    source: 'bursar',
    checkList: async (context, list) => {
      const other = await otherOf(context)
      const own = await context.session.sample(list)
      const ids = new Set(own.items.map(idOf))
      const { exchange, items } = await other.sample(list)
      need(items.length > 0, 'the other customer has no record')
      const shared = items.find((item) => ids.has(idOf(item)))
      hold(shared === undefined, `both customers see ${shared && idOf(shared)}`, exchange)
    },
  },
  {
    id: 'isolation.filters',
    says: 'A filter by ids of another customer shows nothing.',
    source: 'bursar',
    checkList: async (context, list) => {
      const ids = await foreignIds(context, list)
      const { exchange, items } = await context.session.items(list, { [list.ids]: ids })
      hold(items.length === 0, 'it shows records of the other customer', exchange)
    },
  },
  {
    id: 'isolation.reads',
    says: 'A single read of another customer’s record is answered as an unknown id is.',
    source: 'bursar',
    check: async (context) =>
      forSingleReads(context.session, async ({ list }) => {
        const [foreign = ''] = await foreignIds(context, list)
        const unknown = randomUUID()
        const { session } = context
        const answered = await session.call(`${list.path}/${foreign}`)
        const expected = await session.call(`${list.path}/${unknown}`)
        const isSame =
          answered.status === expected.status &&
          withoutId(answered.body, foreign) === withoutId(expected.body, unknown)
        hold(isSame, 'the answer differs from that for an unknown id', answered)
      }),
  },
  {
    id: 'isolation.statements',
    says: 'List Statements for another customer_id is answered 200 with no statement.',
    source: 'bursar',
    check: async (context) => {
      const other = await otherOf(context)
      const { items } = await other.sample(statements)
      need(items.length > 0, 'the other customer has no statement')
      const customer_id = await other.customer()
      need(customer_id !== undefined, 'the other customer is not known')
      const answered = await context.session.list(statements, { customer_id })
      const found = memberOf(answered.body, statements.envelope)
      const isEmpty = answered.status === 200 && Array.isArray(found) && found.length === 0
      hold(isEmpty, 'the answer must be 200 with an empty array', answered)
    },
  },
  {
    id: 'isolation.cursors',
    says: 'A cursor of another customer is answered 400.',
    source: 'bursar',
    checkList: async (context, list) => {
      const other = await otherOf(context)
      await context.session.sample(list)
      const page_cursor = await cursorOf(other, list)
      const answered = await context.session.list(list, { page_cursor })
      hold(answered.status === 400, 'the status must be 400', answered)
    },
  },
]

/** Not testable without a second client, or if it belongs to the same customer. */
async function otherOf({ session, other }: Context): Promise<Session> {
  need(other !== undefined, 'there is no second client (--other-client-id)')
  const [own, others] = [await session.customer(), await other.customer()]
  const isSame = own !== undefined && own === others
  need(!isSame, 'both clients are of one customer; if not, name it with --customer')
  return other
}

async function foreignIds(context: Context, list: Parameters<Session['sample']>[0]) {
  const other = await otherOf(context)
  const { items } = await other.sample(list)
  need(items.length > 0, 'the other customer has no record')
  return items.slice(0, 5).map(idOf)
}

/** A problem without what differs from request to request. */
const withoutId = (body: unknown, id: string): string =>
  JSON.stringify(body, (name, value) => (name === 'request_id' ? undefined : value))?.replaceAll(
    id,
    'ID',
  ) ?? ''
