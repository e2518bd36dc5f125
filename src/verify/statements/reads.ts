import { isDeepStrictEqual } from 'node:util'
import { limits } from '../../platform/limits.ts'
import type { Exchange } from '../exchange.ts'
import { type Item, idOf, isItem, pathIdOf } from '../json.ts'
import { fiatAccounts, fiatDepositInstructions, type List } from '../lists.ts'
import { itHas, type Session } from '../session.ts'
import type { Statement } from '../statement.ts'
import { hold, isRefusal, need } from '../verdicts.ts'
import { upTo } from './filters.ts'

/** Single reads: the same records as in the lists. */
export const readStatements: readonly Statement[] = [
  {
    id: 'reads.account',
    says: 'Get Fiat Account answers the record of its list, apart from masking.',
    source: 'contract',
    lists: [fiatAccounts],
    checkList: ({ session }, list) =>
      readEach(session, list, (item, alone) => {
        hold(isItem(alone.body), 'the body must be an object', alone)
        const isSame = isDeepStrictEqual(unmaskable(alone.body), unmaskable(item))
        hold(isSame, 'the record differs from its list item beyond masking', alone)
      }),
  },
  {
    id: 'reads.deposit-instructions',
    says: 'Get Fiat Deposit Instructions answers the record as its list does.',
    source: 'bursar',
    lists: [fiatDepositInstructions],
    checkList: ({ session }, list) =>
      readEach(session, list, (item, alone) => {
        hold(isDeepStrictEqual(alone.body, item), 'the record differs from its list item', alone)
      }),
  },
  {
    id: 'reads.id-case',
    says: 'A single read takes an id in upper case and answers it in lower case.',
    source: 'bursar',
    lists: [fiatAccounts, fiatDepositInstructions],
    checkList: async ({ session }, list) => {
      const { items } = await session.sample(list)
      const item = items.find((one) => /[a-f]/.test(idOf(one)))
      need(item !== undefined, 'no record has an id with letters')
      const alone = await session.call(`${list.path}/${idOf(item).toUpperCase()}`)
      hold(alone.status === 200, 'the status must be 200', alone)
      const isLower = isItem(alone.body) && idOf(alone.body) === idOf(item)
      hold(isLower, 'the id must be in lower case', alone)
    },
  },
  {
    id: 'reads.deleted',
    says: 'A deleted account is refused alone, and answered 200 with include_deleted=true.',
    source: 'contract',
    lists: [fiatAccounts],
    checkList: async ({ session }, list) => {
      const deleted = (await deletedOf(session, 'DESC')) ?? (await deletedOf(session, 'ASC'))
      need(deleted !== undefined, 'no account is deleted')
      const path = `${list.path}/${pathIdOf(deleted)}`
      const hidden = await session.call(path)
      hold(isRefusal(hidden), 'it must be refused', hidden)
      const shown = await session.call(`${path}?include_deleted=true`)
      hold(shown.status === 200, 'the status must be 200', shown)
    },
  },
]

/** Reads the newest records of a list alone, and checks each. */
async function readEach(
  session: Session,
  list: List,
  check: (item: Item, alone: Exchange) => void,
): Promise<void> {
  const { items } = await session.sample(list)
  need(items.length > 0, itHas(items))
  for (const item of items.slice(0, limits.verifyReadsMax)) {
    const alone = await session.call(`${list.path}/${pathIdOf(item)}`)
    hold(alone.status === 200, 'the status must be 200', alone)
    check(item, alone)
  }
}

/** A deleted account among the first thousand in an order. */
async function deletedOf(session: Session, order: 'ASC' | 'DESC'): Promise<Item | undefined> {
  const query = { order, limit: '1000' }
  const live = await session.items(fiatAccounts, query)
  const every = await session.items(fiatAccounts, { ...query, include_deleted: 'true' })
  const ids = new Set(live.items.map(idOf))
  const reached = upTo(live, every.items, fiatAccounts, order)
  return reached.find((item) => !ids.has(idOf(item)))
}

/** An account without the members that the list masks. */
function unmaskable({
  fiat_network_instructions: _networks,
  fiat_account_owner: _owner,
  ...rest
}: Item): Item {
  return rest
}
