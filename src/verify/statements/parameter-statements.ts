import type { CheckList, Statement } from '../check-statement.ts'
import { needRecords, type Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import {
  type Filter,
  fiatAccounts,
  filtersOf,
  type List,
  lists,
  pageSize,
  statements,
} from '../contract.ts'
import { idOf } from '../json.ts'
import { contract, guide } from '../source.ts'
import { hold, holdStatus, isRefusal, need } from '../verdicts.ts'
import { type Query, valuesOf } from '../ways.ts'

const timed = lists.filter(({ bounds }) => Object.keys(bounds).length > 0)
const ordered = lists.filter(({ takesOrderBy }) => takesOrderBy === true)

/** Query parameters: what is accepted and what is refused. */
export const parameterStatements: readonly Statement[] = [
  {
    id: 'parameters.limit',
    says: 'A limit outside 1 to 1000, or one that is no number, is refused.',
    source: guide('Pages'),
    checkList: refuses(() =>
      [String(pageSize.max + 1), '0', '-1', 'ten'].map((limit) => ({ limit })),
    ),
  },
  {
    id: 'parameters.limit-max',
    says: 'A limit of 1000 is accepted.',
    source: contract('8', [statements]),
    checkList: accepts({ limit: String(pageSize.max) }),
  },
  {
    id: 'parameters.order',
    says: 'An order other than ASC or DESC is refused.',
    source: guide('Filters'),
    checkList: refuses(() => [{ order: 'sideways' }, { order: 'asc' }]),
  },
  {
    id: 'parameters.order-by',
    says: 'order_by=CREATED_AT is accepted.',
    source: contract(),
    lists: ordered,
    checkList: accepts({ order_by: 'CREATED_AT', limit: '1' }),
  },
  {
    id: 'parameters.order-by-others',
    says: 'An order_by other than CREATED_AT is refused.',
    source: guide('Filters'),
    lists: ordered,
    checkList: refuses(() => [{ order_by: 'UPDATED_AT' }]),
  },
  {
    id: 'parameters.enums',
    says: 'A status or network that does not exist is refused.',
    source: guide('Filters'),
    lists: lists.filter((list) => enumsOf(list).length > 0),
    checkList: refuses((list) => enumsOf(list).map((name) => ({ [name]: 'NO_SUCH_VALUE' }))),
  },
  {
    id: 'parameters.dates',
    says: 'A bound that is no RFC 3339 date-time is refused.',
    source: guide('Dates'),
    lists: timed,
    checkList: refuses(({ bounds }) =>
      Object.keys(bounds).flatMap((name) => [
        { [name]: 'yesterday' },
        { [name]: '2026-02-30T00:00:00Z' },
      ]),
    ),
  },
  {
    id: 'parameters.record-ids',
    says: 'A record id in a filter that is no UUID is refused.',
    source: guide('400 Bad Request'),
    checkList: refuses(({ ids }) => [{ [ids]: 'no-uuid' }]),
  },
  {
    id: 'parameters.entries',
    says: 'Each identifier filter takes 100 entries, and 101 are refused.',
    source: contract('8'),
    lists: lists.filter((list) => Object.values(list.filters).some(isOfHundred)),
    checkList: ({ session }, list) => checkEntries(session, list, list.filters, isOfHundred),
  },
  {
    id: 'parameters.extra-entries',
    says: 'Each other filter takes 100 or 1,000 entries, and one more is refused.',
    source: guide('Filters'),
    checkList: async ({ session }, list) => {
      await checkEntries(session, list, list.additions, () => true)
      await checkEntries(session, list, list.filters, (filter) => !isOfHundred(filter))
    },
  },
  {
    id: 'parameters.customer-id',
    says: 'List Statements without customer_id is refused.',
    source: contract('4.3'),
    check: async ({ session }) => {
      session.needScope(statements.scope)
      const answered = await session.call(statements.path)
      hold(isRefusal(answered), 'it must be refused', answered)
    },
  },
  {
    id: 'parameters.include-deleted',
    says: 'include_deleted takes true and false, also as True and 1, and nothing else.',
    source: guide('Filters'),
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
    source: guide('Filters'),
    checkList: async ({ session }, list) => {
      const answered = await isAccepted(session, list, { limit: '1', no_such_parameter: 'x' })
      const names = answered.headers.get('x-ignored-parameters') ?? ''
      hold(names.includes('no_such_parameter'), 'X-Ignored-Parameters must name it', answered)
    },
  },
  {
    id: 'parameters.repeated',
    says: 'A parameter of one value that is given twice, or is empty, is refused.',
    source: guide('Filters'),
    checkList: refuses(() => [{ limit: ['1', '1'] }, { order: '' }]),
  },
  {
    id: 'parameters.brackets',
    says: 'ids[]= and ids[0]= mean the same as ids=.',
    source: guide('Filters'),
    checkList: async ({ session }, list) => {
      const { items } = await session.sample(list)
      needRecords(items)
      const [item = {}] = items
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
    source: guide('Filters'),
    checkList: async ({ session }, list) => {
      const { items } = await session.sample(list)
      const item = items.find((one) => /[a-f]/.test(idOf(one)))
      need(item !== undefined, 'no record has an id with letters')
      const found = await session.list(list, { [list.ids]: idOf(item).toUpperCase() })
      holdStatus(found, 200)
      hold(found.text.includes(idOf(item)), 'the record is missing', found)
    },
  },
]

function isOfHundred({ entriesMax }: Filter): boolean {
  return entriesMax === 100
}

function enumsOf(list: List): readonly string[] {
  const filters = Object.entries(filtersOf(list))
  return filters.filter(([, { isEnum }]) => isEnum).map(([name]) => name)
}

/** As many entries as each filter takes, and one more. The values of enums are too few. */
async function checkEntries(
  session: Session,
  list: List,
  filters: List['filters'],
  isMeant: (filter: Filter) => boolean,
): Promise<void> {
  const { items } = await session.sample(list)
  for (const [name, filter] of Object.entries(filters)) {
    const { entriesMax, isEnum } = filter
    if (!isMeant(filter) || isEnum || entriesMax === 1) continue
    const [own = session.newId()] = valuesOf(items, filter.member)
    const entries = [own, ...Array.from({ length: entriesMax }, () => session.newId())]
    const answered = await session.list(list, { [name]: entries.slice(0, -1) })
    need(answered.status < 500, `it answers HTTP ${answered.status}`)
    hold(answered.status === 200, `${name} must take ${entriesMax} entries`, answered)
    await isRefused(session, list, { [name]: entries }, `${name} must take no more entries`)
  }
}

function refuses(queriesOf: (list: List) => readonly Query[]): CheckList {
  return async ({ session }, list) => {
    for (const query of queriesOf(list)) await isRefused(session, list, query)
  }
}

function accepts(query: Query): CheckList {
  return ({ session }, list) => isAccepted(session, list, query)
}

async function isRefused(
  session: Session,
  list: List,
  query: Query,
  says = 'it must be refused',
): Promise<void> {
  session.needScope(list.scope)
  await session.sample(list)
  const answered = await session.list(list, query)
  hold(isRefusal(answered), says, answered)
}

async function isAccepted(session: Session, list: List, query: Query): Promise<Exchange> {
  session.needScope(list.scope)
  const answered = await session.list(list, query)
  holdStatus(answered, 200)
  return answered
}
