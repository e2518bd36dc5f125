import { isDeepStrictEqual } from 'node:util'
import { type Checks, eachOf } from '../check-statement.ts'
import type { Session } from '../client/client-session.ts'
import { fiatAccounts } from '../contract.ts'
import { type Item, idOf, isItem, memberOf, textOf } from '../json.ts'
import { forEachPart, readAlone } from '../questions/each-record.ts'
import { masked } from '../redact.ts'
import { hold, need } from '../verdicts.ts'

/** List Fiat Accounts masks what Get Fiat Account shows. */
export const maskingStatements: Checks = {
  'masking.account-numbers': eachOf([fiatAccounts], ({ session }, list) =>
    forEachPart(session, list, numbers, ({ network, number }, { item, evidence, by }) => {
      const says = `${network}.account_number of ${idOf(item)} is not masked${by} (this report masks it)`
      hold(isMasked(number), says, { ...evidence, part: partOf(item, networkMember) })
    }),
  ),
  'masking.length': eachOf([fiatAccounts], async ({ session }) => {
    for (const { item, alone } of await readNumbered(session)) {
      const full = new Map(numbers.of(alone.body).map((each) => [each.network, each.number]))
      for (const { network, number } of numbers.of(item)) {
        const whole = full.get(network) ?? ''
        const isSame = [...whole].length === [...number].length && endOf(whole, number)
        hold(isSame, `${network}.account_number differs beyond the mask`, alone)
      }
    }
  }),
  'masking.full-read': eachOf([fiatAccounts], async ({ session }) => {
    for (const { alone } of await readNumbered(session)) {
      for (const { network, number } of numbers.of(alone.body)) {
        hold(!isMasked(number), `${network}.account_number is masked`, alone)
      }
    }
  }),
  'masking.owner': eachOf([fiatAccounts], ({ session }, list) =>
    forEachPart(session, list, owners, (owner, { item, evidence, by }) => {
      const isEmpty = isItem(owner) && Object.keys(owner).length === 0
      const says = `fiat_account_owner of ${idOf(item)} is not {}${by}`
      hold(isEmpty, says, { ...evidence, part: partOf(item, ownerMember) })
    }),
  ),
  'masking.addresses': eachOf([fiatAccounts], ({ session }, list) =>
    forEachPart(session, list, addresses, (address, { item, evidence, by }) => {
      const isCountry = Object.keys(address).every((name) => name === 'country')
      const says = `an address of ${idOf(item)} has more than its country${by}`
      hold(isCountry, says, { ...evidence, part: partOf(item, networkMember) })
    }),
  ),
  'masking.wire': eachOf([fiatAccounts], ({ session }, list) =>
    forEachPart(session, list, wires, (wire, { item, evidence, by }) => {
      const isSame = ['status', 'metadata'].every((name) =>
        isDeepStrictEqual(memberOf(wire, name), memberOf(item, name)),
      )
      hold(isSame, `wire of ${idOf(item)} differs from its account${by}`, evidence)
    }),
  ),
}

const networkMember = 'fiat_network_instructions'
const ownerMember = 'fiat_account_owner'

/** What a report shows of a record: its id, and the member with the fault. */
const partOf = (item: Item, member: string): Item => ({ id: item.id, [member]: item[member] })

const networkOf = (item: unknown, network: string): unknown =>
  memberOf(memberOf(item, networkMember), network)

const numbers = {
  none: 'no account has an account number',
  of: (item: unknown) =>
    ['wire', 'dbs_act', 'scb', 'rtp'].flatMap((network) => {
      const number = textOf(networkOf(item, network), 'account_number')
      return number === undefined ? [] : [{ network, number }]
    }),
}

const owners = {
  none: 'no account has an owner',
  of: (item: Item) => (ownerMember in item ? [item[ownerMember]] : []),
}

const addresses = {
  none: 'no account has an address',
  of: (item: Item) =>
    ['wire', 'rtp'].flatMap((name) => {
      const network = networkOf(item, name)
      return [
        memberOf(network, 'fiat_account_owner_address'),
        memberOf(memberOf(network, 'routing_details'), 'bank_address'),
        memberOf(memberOf(network, 'intermediary_routing_details'), 'bank_address'),
      ].filter(isItem)
    }),
}

const wires = {
  none: 'no account has a wire network',
  of: (item: Item) => [networkOf(item, 'wire')].filter(isItem),
}

/** X but for four characters at most; four characters or fewer are X alone. */
const isMasked = (number: string): boolean => masked(number) === number

/** The last four characters are the same, where more than four are there. */
const endOf = (whole: string, shown: string): boolean => masked(whole).slice(-4) === shown.slice(-4)

/** A few accounts with an account number, each read alone. */
async function readNumbered(session: Session) {
  const read = await readAlone(session, fiatAccounts, (item) => numbers.of(item).length > 0)
  const answered = read.filter(({ alone }) => alone.status === 200)
  need(answered.length > 0, numbers.none)
  return answered
}
