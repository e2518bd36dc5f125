import { type CheckList, type Checks, each, eachOf, once } from '../check-statement.ts'
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
import { hold, holdStatus, isRefusal, need } from '../verdicts.ts'
import { type Query, valuesOf } from '../ways.ts'

const timed = lists.filter(({ bounds }) => Object.keys(bounds).length > 0)
const ordered = lists.filter(({ takesOrderBy }) => takesOrderBy === true)

/** Query parameters: what is accepted and what is refused. */
export const parameterStatements: Checks = {
  'parameters.limit': each(
    refuses(() => [String(pageSize.max + 1), '0', '-1', 'ten'].map((limit) => ({ limit }))),
  ),
  'parameters.limit-max': each(accepts({ limit: String(pageSize.max) })),
  'parameters.order': each(refuses(() => [{ order: 'sideways' }, { order: 'asc' }])),
  'parameters.order-by': eachOf(ordered, accepts({ order_by: 'CREATED_AT', limit: '1' })),
  'parameters.order-by-others': eachOf(
    ordered,
    refuses(() => [{ order_by: 'UPDATED_AT' }]),
  ),
  'parameters.enums': eachOf(
    lists.filter((list) => enumsOf(list).length > 0),
    refuses((list) => enumsOf(list).map((name) => ({ [name]: 'NO_SUCH_VALUE' }))),
  ),
  'parameters.dates': eachOf(
    timed,
    refuses(({ bounds }) =>
      Object.keys(bounds).flatMap((name) => [
        { [name]: 'yesterday' },
        { [name]: '2026-02-30T00:00:00Z' },
      ]),
    ),
  ),
  'parameters.record-ids': each(refuses(({ ids }) => [{ [ids]: 'no-uuid' }])),
  'parameters.entries': eachOf(
    lists.filter((list) => Object.values(list.filters).some(isOfHundred)),
    ({ session }, list) => checkEntries(session, list, list.filters, isOfHundred),
  ),
  'parameters.extra-entries': each(async ({ session }, list) => {
    await checkEntries(session, list, list.additions, () => true)
    await checkEntries(session, list, list.filters, (filter) => !isOfHundred(filter))
  }),
  'parameters.customer-id': once(async ({ session }) => {
    session.needScope(statements.scope)
    const answered = await session.call(statements.path)
    hold(isRefusal(answered), 'it must be refused', answered)
  }),
  'parameters.include-deleted': eachOf([fiatAccounts], async ({ session }, list) => {
    for (const flag of ['true', 'false', 'True', '1']) {
      await isAccepted(session, list, { include_deleted: flag, limit: '1' })
    }
    await isRefused(session, list, { include_deleted: 'maybe' })
  }),
  'parameters.unknown': each(async ({ session }, list) => {
    const answered = await isAccepted(session, list, { limit: '1', no_such_parameter: 'x' })
    const names = answered.headers.get('x-ignored-parameters') ?? ''
    hold(names.includes('no_such_parameter'), 'X-Ignored-Parameters must name it', answered)
  }),
  'parameters.repeated': each(refuses(() => [{ limit: ['1', '1'] }, { order: '' }])),
  'parameters.brackets': each(async ({ session }, list) => {
    const { items } = await session.sample(list)
    needRecords(items)
    const [item = {}] = items
    for (const name of [`${list.ids}[]`, `${list.ids}[0]`]) {
      const found = await session.items(list, { [name]: idOf(item) })
      const isIt = found.items.length === 1 && found.items.every((one) => idOf(one) === idOf(item))
      hold(isIt, `${name}= must select the one record`, found.exchange)
    }
  }),
  'parameters.id-case': each(async ({ session }, list) => {
    const { items } = await session.sample(list)
    const item = items.find((one) => /[a-f]/.test(idOf(one)))
    need(item !== undefined, 'no record has an id with letters')
    const found = await session.list(list, { [list.ids]: idOf(item).toUpperCase() })
    holdStatus(found, 200)
    hold(found.text.includes(idOf(item)), 'the record is missing', found)
  }),
}

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
