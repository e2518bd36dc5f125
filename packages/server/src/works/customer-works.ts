import { type Clock, type Config, limitsOf, type Metrics } from '@bursar/base'
import {
  createCryptoWithdrawalFee,
  getEvent,
  gets,
  listEvents,
  lists,
  type Operation,
  type Principal,
  type ReserveAnswer,
} from '@bursar/contract'
import { addressPolicy, type FeeBasis } from '@bursar/fees'
import type { FeeQuoteStore, Store } from '@bursar/records'
import type { CursorKeys } from '../pipeline/cursor.ts'
import { openPageCache } from '../pipeline/page-cache.ts'
import { readList, readRecord } from '../pipeline/read-list.ts'
import type { Readings } from '../pipeline/routes-of.ts'
import type { EventWaits } from './events/event-waits.ts'
import { getEventWork, listEventsWork } from './events/event-works.ts'
import { quoteWithdrawal } from './withdrawal-fees/quote-withdrawal.ts'

const limits = limitsOf({
  /** Answers of lists that are kept in memory, of each process. */
  keptPagesBytesMax: 32 * 1024 * 1024,
})

type CustomerDeps = {
  readonly store: Store
  readonly quotes: FeeQuoteStore
  readonly feeBasis: () => FeeBasis
  readonly cursorKeys: CursorKeys
  readonly reserveAnswer: ReserveAnswer
  readonly config: Config
  readonly clock: Clock
  readonly metrics: Metrics
  readonly waits: EventWaits
}

/** The work of each operation of customers, by the operation's id. */
export function customerWorks(deps: CustomerDeps): Readings<Principal> {
  const { quotes, feeBasis, config, clock } = deps
  const reading = { ...deps, pages: openPageCache(limits.keptPagesBytesMax) }
  return {
    ...byId(gets, (get) => readRecord(get, reading)),
    ...byId(lists, (list) => readList(list, reading)),
    [createCryptoWithdrawalFee.id]: quoteWithdrawal({
      basis: feeBasis,
      quotes,
      clock,
      policy: addressPolicy(config),
      openMax: config.feeQuotesOpenMax,
    }),
    [listEvents.id]: listEventsWork(deps),
    [getEvent.id]: getEventWork(deps),
  }
}

const byId = <O extends Operation, R>(all: readonly O[], bind: (operation: O) => R) =>
  Object.fromEntries(all.map((operation) => [operation.id, bind(operation)]))

/** The operations by which customers read their own records, and what has happened to them. */
export const customerReads = [...gets, ...lists, listEvents, getEvent].map(({ id }) => id)
