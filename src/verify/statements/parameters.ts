import { randomUUID } from 'node:crypto'
import type { Exchange } from '../exchange.ts'
import { idOf } from '../json.ts'
import { fiatAccounts, type List, lists, statements } from '../lists.ts'
import { itHas, type Query, type Session } from '../session.ts'
import type { Statement } from '../statement.ts'
import { hold, isRefusal, need } from '../verdicts.ts'

const timed = lists.filter(({ bounds }) => Object.keys(bounds).length > 0)
const ordered = lists.filter(({ path }) => !['/v2/statements', '/v2/issuer-quotes'].includes(path))

/** Query parameters: what is accepted and what is refused. */
export const parameterStatements: readonly Statement[] = [
  {
    id: 'parameters.limit',
    says: 'A limit outside 1 to 1000, or one that is no number, is refused.',
    source: 'contract',
    checkList: async ({ session }, list) => {
      for (const limit of ['1001', '0', '-1', 'ten']) await isRefused(session, list, { limit })
    },
  },
  {
    id: 'parameters.limit-max',
    says: 'A limit of 1000 is accepted.',
    source: 'contract',
    checkList: ({ session }, list) => isAccepted(session, list, { limit: '1000' }),
  },
  {
    id: 'parameters.order',
    says: 'An order other than ASC or DESC is refused.',
    source: 'contract',
    checkList: async ({ session }, list) => {
      for (const order of ['sideways', 'asc']) await isRefused(session, list, { order })
    },
  },
  {
    id: 'parameters.order-by',
    says: 'CREATED_AT is the one order_by.',
    source: 'contract',
    lists: ordered,
    checkList: async ({ session }, list) => {
      await isAccepted(session, list, { order_by: 'CREATED_AT', limit: '1' })
      await isRefused(session, list, { order_by: 'UPDATED_AT' })
    },
  },
  {
    id: 'parameters.status',
    says: 'A status that does not exist is refused.',
    source: 'contract',
    lists: lists.filter(({ filters }) => Object.values(filters).includes('status')),
    checkList: async ({ session }, list) => {
      const name = list === statements ? 'statuses' : 'status'
      await isRefused(session, list, { [name]: 'NO_SUCH_STATUS' })
    },
  },
  {
    id: 'parameters.dates',
    says: 'A bound that is no RFC 3339 date-time is refused.',
    source: 'contract',
    lists: timed,
    checkList: async ({ session }, list) => {
      for (const name of Object.keys(list.bounds)) {
        await isRefused(session, list, { [name]: 'yesterday' })
      }
      const [name = ''] = Object.keys(list.bounds)
      await isRefused(session, list, { [name]: '2026-02-30T00:00:00Z' })
    },
  },
  {
    id: 'parameters.record-ids',
    says: 'A record id in a filter that is no UUID is refused.',
    source: 'bursar',
    checkList: ({ session }, list) => isRefused(session, list, { [list.ids]: 'no-uuid' }),
  },
  {
    id: 'parameters.entries',
    says: 'An identifier filter takes 100 entries, and 101 are refused.',
    source: 'contract',
    lists: lists.filter(({ entriesMax }) => entriesMax === 100),
    checkList: async ({ session }, list) => {
      const ids = Array.from({ length: list.entriesMax + 1 }, () => randomUUID())
      await isAccepted(session, list, { [list.ids]: ids.slice(1) })
      await isRefused(session, list, { [list.ids]: ids })
    },
  },
  {
    id: 'parameters.customer-id',
    says: 'List Statements without customer_id is refused.',
    source: 'contract',
    check: async ({ session }) => {
      session.needScope(statements.scope)
      const answered = await session.call(statements.path)
      hold(isRefusal(answered), 'it must be refused', answered)
    },
  },
  {
    id: 'parameters.include-deleted',
    says: 'include_deleted takes true and false, also as True and 1, and nothing else.',
    source: 'bursar',
    lists: [fiatAccounts],
    checkList: async ({ session }, list) => {
      for (const flag of ['true', 'false', 'True', '1']) {
        await isAccepted(session, list, { include_deleted: flag, limit: '1' })
      }
      await isRefused(session, list, { include_deleted: 'maybe' })
    },
  },
  {
    id: 'parameters.unknown',
    says: 'An unknown parameter is ignored, and X-Ignored-Parameters names it.',
    source: 'bursar',
    checkList: async ({ session }, list) => {
      const answered = await isAccepted(session, list, { limit: '1', no_such_parameter: 'x' })
      const names = answered.headers.get('x-ignored-parameters') ?? ''
      hold(names.includes('no_such_parameter'), 'X-Ignored-Parameters must name it', answered)
    },
  },
  {
    id: 'parameters.repeated',
    says: 'A parameter of one value that is given twice, or is empty, is refused.',
    source: 'bursar',
    checkList: async ({ session }, list) => {
      await isRefused(session, list, { limit: ['1', '1'] })
      await isRefused(session, list, { order: '' })
    },
  },
  {
    id: 'parameters.brackets',
    says: 'ids[]= and ids[0]= mean the same as ids=.',
    source: 'bursar',
    checkList: async ({ session }, list) => {
      const { items } = await session.sample(list)
      const [item] = items
      need(item !== undefined, itHas(items))
      for (const name of [`${list.ids}[]`, `${list.ids}[0]`]) {
        const found = await session.items(list, { [name]: idOf(item) })
        const isIt =
          found.items.length === 1 && found.items.every((one) => idOf(one) === idOf(item))
        hold(isIt, `${name}= must select the one record`, found.exchange)
      }
    },
  },
  {
    id: 'parameters.id-case',
    says: 'A record id in upper case selects the same record.',
    source: 'bursar',
    checkList: async ({ session }, list) => {
      const { items } = await session.sample(list)
      const item = items.find((one) => /[a-f]/.test(idOf(one)))
      need(item !== undefined, 'no record has an id with letters')
      const found = await session.list(list, { [list.ids]: idOf(item).toUpperCase() })
      hold(found.status === 200, 'the status must be 200', found)
      hold(found.text.includes(idOf(item)), 'the record is missing', found)
    },
  },
]

async function isRefused(session: Session, list: List, query: Query): Promise<void> {
  session.needScope(list.scope)
  await session.sample(list)
  const answered = await session.list(list, query)
  hold(isRefusal(answered), 'it must be refused', answered)
}

async function isAccepted(session: Session, list: List, query: Query): Promise<Exchange> {
  session.needScope(list.scope)
  const answered = await session.list(list, query)
  hold(answered.status === 200, 'the status must be 200', answered)
  return answered
}
