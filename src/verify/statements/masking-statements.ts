import { isDeepStrictEqual } from 'node:util'
import type { Statement } from '../check-statement.ts'
import { needRecords, type Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import { fiatAccounts } from '../contract.ts'
import { type Item, idOf, isItem, memberOf, pathIdOf, textOf } from '../json.ts'
import { forEachShown } from '../questions/each-shown.ts'
import { masked } from '../redact.ts'
import { guide } from '../source.ts'
import { hold, need } from '../verdicts.ts'
import { verifyLimits } from '../verify-limits.ts'

const numbered = ['wire', 'dbs_act', 'scb', 'rtp'] as const
const accounts = [fiatAccounts] as const

/** List Fiat Accounts masks what Get Fiat Account shows. */
export const maskingStatements: readonly Statement[] = [
  {
    id: 'masking.account-numbers',
    says: 'List Fiat Accounts shows the last four characters of an account number and X before.',
    source: guide('Masking'),
    lists: accounts,
    checkList: async ({ session }, list) => {
      let count = 0
      const stopped = await forEachShown(session, list, ({ item, evidence, by }) => {
        for (const { network, number } of numbersOf(item)) {
          count += 1
          const says = `${network}.account_number of ${idOf(item)} is not masked${by} (this report masks it)`
          hold(isMasked(number), says, { ...evidence, part: partOf(item, networkMember) })
        }
      })
      need(count > 0, 'no account has an account number')
      return stopped
    },
  },
  {
    id: 'masking.length',
    says: 'A masked account number has the length and the last characters of the number.',
    source: guide('Masking'),
    lists: accounts,
    checkList: async ({ session }) => {
      const read = await readAlone(session, (item) => numbersOf(item).length > 0)
      need(read.length > 0, 'no account has an account number')
      for (const { item, alone } of read) {
        const full = new Map(numbersOf(alone.body).map((each) => [each.network, each.number]))
        for (const { network, number } of numbersOf(item)) {
          const whole = full.get(network) ?? ''
          const isSame = [...whole].length === [...number].length && endOf(whole, number)
          hold(isSame, `${network}.account_number differs beyond the mask`, alone)
        }
      }
    },
  },
  {
    id: 'masking.full-read',
    says: 'Get Fiat Account shows account numbers, owners and addresses without masking.',
    source: guide('Masking'),
    lists: accounts,
    checkList: async ({ session }) => {
      const read = await readAlone(session, (item) => numbersOf(item).length > 0)
      need(read.length > 0, 'no account has an account number')
      for (const { alone } of read) {
        for (const { network, number } of numbersOf(alone.body)) {
          hold(!isMasked(number), `${network}.account_number is masked`, alone)
        }
      }
    },
  },
  {
    id: 'masking.owner',
    says: 'List Fiat Accounts withholds the owner: fiat_account_owner is {}.',
    source: guide('Masking'),
    lists: accounts,
    checkList: async ({ session }, list) => {
      let count = 0
      const stopped = await forEachShown(session, list, ({ item, evidence, by }) => {
        if (!(ownerMember in item)) return
        count += 1
        const owner = memberOf(item, ownerMember)
        const isEmpty = isItem(owner) && Object.keys(owner).length === 0
        const says = `fiat_account_owner of ${idOf(item)} is not {}${by}`
        hold(isEmpty, says, { ...evidence, part: partOf(item, ownerMember) })
      })
      need(count > 0, 'no account has an owner')
      return stopped
    },
  },
  {
    id: 'masking.addresses',
    says: 'List Fiat Accounts shows of every address its country only.',
    source: guide('Masking'),
    lists: accounts,
    checkList: async ({ session }, list) => {
      let count = 0
      const stopped = await forEachShown(session, list, ({ item, evidence, by }) => {
        for (const address of addressesOf(item)) {
          count += 1
          const isCountry = Object.keys(address).every((name) => name === 'country')
          const says = `an address of ${idOf(item)} has more than its country${by}`
          hold(isCountry, says, { ...evidence, part: partOf(item, networkMember) })
        }
      })
      need(count > 0, 'no account has an address')
      return stopped
    },
  },
  {
    id: 'masking.wire',
    says: 'In lists, wire repeats status and metadata of its account.',
    source: guide('Masking'),
    lists: accounts,
    checkList: async ({ session }, list) => {
      let count = 0
      const stopped = await forEachShown(session, list, ({ item, evidence, by }) => {
        const wire = networkOf(item, 'wire')
        if (!isItem(wire)) return
        count += 1
        const isSame = ['status', 'metadata'].every((name) =>
          isDeepStrictEqual(memberOf(wire, name), memberOf(item, name)),
        )
        hold(isSame, `wire of ${idOf(item)} differs from its account${by}`, evidence)
      })
      need(count > 0, 'no account has a wire network')
      return stopped
    },
  },
]

const networkMember = 'fiat_network_instructions'
const ownerMember = 'fiat_account_owner'

/** What a report shows of a record: its id, and the member with the fault. */
const partOf = (item: Item, member: string): Item => ({ id: item.id, [member]: item[member] })

const networkOf = (item: unknown, network: string): unknown =>
  memberOf(memberOf(item, networkMember), network)

const numbersOf = (item: unknown) =>
  numbered.flatMap((network) => {
    const number = textOf(networkOf(item, network), 'account_number')
    return number === undefined ? [] : [{ network, number }]
  })

/** X but for four characters at most; four characters or fewer are X alone. */
function isMasked(number: string): boolean {
  return masked(number) === number
}

/** The last four characters are the same, where more than four are there. */
const endOf = (whole: string, shown: string): boolean =>
  [...whole].length <= 4 || whole.slice(-4) === shown.slice(-4)

function addressesOf(item: Item): readonly Item[] {
  return ['wire', 'rtp'].flatMap((name) => {
    const network = networkOf(item, name)
    return [
      memberOf(network, 'fiat_account_owner_address'),
      memberOf(memberOf(network, 'routing_details'), 'bank_address'),
      memberOf(memberOf(network, 'intermediary_routing_details'), 'bank_address'),
    ].filter(isItem)
  })
}

type ReadAlone = { readonly item: Item; readonly alone: Exchange }

/** A few accounts of the list, each read alone. */
async function readAlone(
  session: Session,
  isWanted: (item: Item) => boolean,
): Promise<readonly ReadAlone[]> {
  const { items } = await session.sample(fiatAccounts)
  needRecords(items)
  const chosen = items.filter(isWanted).slice(0, verifyLimits.readsMax)
  const read: ReadAlone[] = []
  for (const item of chosen) {
    const alone = await session.call(`${fiatAccounts.path}/${pathIdOf(item)}`)
    if (alone.status === 200) read.push({ item, alone })
  }
  return read
}
