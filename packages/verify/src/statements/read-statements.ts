import { isDeepStrictEqual } from 'node:util'
import { type Checks, eachOf } from '../check-statement.ts'
import { fiatAccounts, fiatDepositInstructions } from '../contract.ts'
import { type Item, idOf, isItem, pathIdOf, timeOf } from '../json.ts'
import { readAlone } from '../questions/each-record.ts'
import { hold, holdStatus, isRefusal, need } from '../verdicts.ts'

/** Single reads: the same records as in the lists. */
export const readStatements: Checks = {
  'reads.account': eachOf([fiatAccounts], async ({ session }, list) => {
    for (const { item, alone } of await readAlone(session, list)) {
      holdStatus(alone, 200)
      hold(isItem(alone.body), 'the body must be an object', alone)
      const isSame =
        isDeepStrictEqual(unmaskable(alone.body), unmaskable(item)) &&
        hasSameStatus(alone.body, item)
      hold(isSame, 'the record differs from its list item beyond masking', alone)
    }
  }),
  'reads.deposit-instructions': eachOf([fiatDepositInstructions], async ({ session }, list) => {
    for (const { item, alone } of await readAlone(session, list)) {
      holdStatus(alone, 200)
      hold(isDeepStrictEqual(alone.body, item), 'the record differs from its list item', alone)
    }
  }),
  'reads.id-case': eachOf([fiatAccounts, fiatDepositInstructions], async ({ session }, list) => {
    const { items } = await session.sample(list)
    const item = items.find((one) => /[a-f]/.test(idOf(one)))
    need(item !== undefined, 'no record has an id with letters')
    const alone = await session.call(`${list.path}/${idOf(item).toUpperCase()}`)
    holdStatus(alone, 200)
    const isLower = isItem(alone.body) && idOf(alone.body) === idOf(item)
    hold(isLower, 'the id must be in lower case', alone)
  }),
  'reads.deleted': eachOf([fiatAccounts], async ({ session }, list) => {
    const deleted = await session.deleted(list)
    need(deleted !== undefined, 'no account is deleted')
    const path = `${list.path}/${pathIdOf(deleted)}`
    for (const hiding of ['', '?include_deleted=false']) {
      const hidden = await session.call(`${path}${hiding}`)
      hold(isRefusal(hidden), 'it must be refused', hidden)
    }
    const shown = await session.call(`${path}?include_deleted=true`)
    holdStatus(shown, 200)
  }),
}

/**
 * An account without the members that the list masks, and without the status, which the contract
 * requires of single reads only. A time may be written in two forms.
 */
function unmaskable({
  fiat_network_instructions: _networks,
  fiat_account_owner: _owner,
  status: _status,
  ...rest
}: Item): Item {
  const times = ['created_at', 'updated_at'].filter((name) => name in rest)
  return { ...rest, ...Object.fromEntries(times.map((name) => [name, timeOf(rest, name)])) }
}

/** A list may leave the status out; it may not show another. */
const hasSameStatus = (alone: Item, item: Item): boolean =>
  item.status === undefined || item.status === alone.status
