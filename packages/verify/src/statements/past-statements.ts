import { alone, type Checks, each } from '../check-statement.ts'
import type { Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import { isDeletion, objectOf, oneOfEachType } from '../client/feed.ts'
import { sampleOf } from '../client/pages.ts'
import { kindOf, type List } from '../contract.ts'
import { type Item, idOf, isItem, textOf } from '../json.ts'
import { hold, holdStatus, need } from '../verdicts.ts'

/** Reads at an instant, which lead from an event to the version of its record. */
export const pastStatements: Checks = {
  'past.versions': each(async ({ session }, list) => {
    for (const { event, id, as_of } of await versionsOf(session, list)) {
      const answered = await session.list(list, { [list.ids]: id, as_of })
      needAsOf(answered)
      holdStatus(answered, 200)
      const { items } = sampleOf(answered, list)
      const expected = isDeletion(event) ? [] : [id]
      const isRight = items.map(idOf).join() === expected.join()
      hold(isRight, `it must show ${expected.length === 0 ? 'no record' : id}`, answered)
      const header = answered.headers.get('as-of')
      hold(header === as_of, `As-Of must be ${as_of}`, answered)
    }
  }),
  'past.reads': alone(async ({ session }, { list }) => {
    for (const { event, id, as_of } of await versionsOf(session, list)) {
      const answered = await session.call(`${list.path}/${id}?as_of=${as_of}`)
      needAsOf(answered)
      holdStatus(answered, isDeletion(event) ? 404 : 200)
      const isRight = isDeletion(event) || (isItem(answered.body) && idOf(answered.body) === id)
      hold(isRight, 'it answers another record', answered)
    }
  }),
  'past.repeatable': each(async ({ session }, list) => {
    for (const { id, as_of } of await versionsOf(session, list)) {
      const query = { [list.ids]: id, as_of }
      const first = await session.list(list, query)
      needAsOf(first)
      const again = await session.list(list, query)
      const isSame = first.status === again.status && first.text === again.text
      hold(isSame, 'the second answer differs from the first', again)
    }
  }),
  'past.future': each(async ({ session }, list) => {
    session.needScope(list.scope)
    for (const as_of of ['2999-01-01T00:00:00Z', 'yesterday']) {
      const answered = await session.list(list, { as_of, limit: '1' })
      needAsOf(answered)
      holdStatus(answered, 400)
    }
  }),
  'past.unknown': each(async ({ session }, list) => {
    const { items } = await session.sample(list)
    need(items.length > 0, 'it has no record')
    const answered = await session.list(list, { as_of: '1971-01-01T00:00:00Z', limit: '1' })
    needAsOf(answered)
    holdStatus(answered, 410)
  }),
}

type Version = { readonly event: Item; readonly id: string; readonly as_of: string }

/** An event of each type of a list's records, with its object and time. */
async function versionsOf(session: Session, list: List): Promise<readonly Version[]> {
  session.needScope(list.scope)
  const every = [...(await session.newestEvents()).items, ...(await session.feed()).items]
  const own = every.filter((event) => objectOf(event).kind === kindOf(list))
  need(own.length > 0, 'no event is about it')
  return oneOfEachType(own).map((event) => ({
    event,
    id: objectOf(event).id,
    as_of: textOf(event, 'as_of') ?? '',
  }))
}

/** Not testable where the target does not know the parameter. */
function needAsOf({ headers }: Exchange): void {
  const ignored = headers.get('x-ignored-parameters') ?? ''
  need(!ignored.split(', ').includes('as_of'), 'the target does not take as_of')
}
