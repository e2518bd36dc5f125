import { type Keyring, limitsOf, systemTime } from '@bursar/base'
import { eraseClients } from '@bursar/oauth'
import type {
  CredentialStore,
  ErasePlace,
  Erasure,
  FeeQuoteStore,
  OperatorRecords,
} from '@bursar/records'
import type { Stores } from '@bursar/server/stores'

const limits = limitsOf({
  /** The pause between two steps of an erasure, in which writers have their turn. */
  eraseRestMs: 30,
  /** Every running server refuses a client so long after it was disabled. */
  clientRefusedMs: 10_000,
})

/** What there is of a customer, or what was removed of it. */
export type Holdings = {
  readonly records: number
  readonly versions: number
  readonly fee_events: number
  readonly keys: number
  readonly clients: number
  readonly fees: number
}

export type ErasureDeps = {
  readonly stores: Pick<Stores, 'credentials' | 'quotes' | 'records'>
  readonly keyring: Keyring
  /** Whether servers may still know the customer's clients, as they do unless in recovery. */
  readonly isServed: boolean
  readonly tell?: (text: string) => void
}

/** Undefined for a customer of whom nothing was ever stored. */
export async function findHoldings(
  stores: ErasureDeps['stores'],
  customerId: string,
): Promise<Holdings | undefined> {
  const stored = await stores.records().operator.holdings(customerId)
  const clients = await stores.credentials().clientsOf(customerId)
  const fees = await walkQuotes(stores.quotes().operator, customerId, false)
  if (stored === undefined && clients.length === 0 && fees === 0) return undefined
  return {
    records: stored?.records ?? 0,
    versions: stored?.versions ?? 0,
    fee_events: stored?.feeEvents ?? 0,
    keys: stored?.keys ?? 0,
    clients: clients.filter(({ name }) => name !== '').length,
    fees,
  }
}

/**
 * Erases a customer. The list of erasures has it from the beginning. A run that was cut off leaves
 * an erasure that has not ended; the next run goes on with what is left.
 *
 * Clients come first, and all else waits until no server accepts them. Fees come before records, so
 * that none is consumed afterwards and becomes an event again.
 */
export async function eraseCustomer(
  { stores, keyring, isServed, tell }: ErasureDeps,
  customerId: string,
  found: Holdings | undefined,
): Promise<Erasure> {
  const store = stores.credentials()
  const { operator: quotes } = stores.quotes()
  const { now } = await quotes.times()
  const begun = await store.beginErasure({ customerId, begunAt: now, removed: { ...found } })
  const deps = { store, keyring, clock: systemTime.now }
  const clients = await eraseClients(deps, customerId)
  if (isServed && clients.disabledAt !== undefined) {
    const refusedAt = clients.disabledAt + BigInt(limits.clientRefusedMs) * 1000n
    const leftMs = Number((refusedAt - systemTime.now()) / 1000n)
    if (leftMs > 0) {
      const seconds = limits.clientRefusedMs / 1000
      tell?.(`waiting up to ${seconds} s, until every server refuses the customer’s clients`)
      await systemTime.pause(Math.min(leftMs, limits.clientRefusedMs))
    }
  }
  const fees = await walkQuotes(quotes, customerId, true)
  const { operator } = stores.records()
  const destroy = store.addDestroyedKeys
  const records = await eraseRecords({ operator, destroy }, customerId, clients.ids)
  const isResumed = begun.begunAt !== now
  const removed = isResumed ? begun.removed : { ...records, clients: clients.erased, fees }
  const { now: endedAt } = await quotes.times()
  const ended = { ...begun, endedAt, removed }
  await store.endErasure(ended)
  return ended
}

async function walkQuotes(
  { eraseSome }: FeeQuoteStore['operator'],
  customerId: string,
  erases: boolean,
): Promise<number> {
  let count = 0
  let after: string | undefined
  do {
    const part = await eraseSome(customerId, { after, erases })
    count += part.count
    after = part.next
    if (erases && after !== undefined) await systemTime.pause(limits.eraseRestMs)
  } while (after !== undefined)
  return count
}

type Erasing = {
  readonly operator: OperatorRecords
  readonly destroy: CredentialStore['addDestroyedKeys']
}

/** Pauses after each step, so that others write between two of them. */
async function eraseRecords(
  { operator, destroy }: Erasing,
  customerId: string,
  clientIds: readonly string[],
): Promise<Omit<Holdings, 'clients' | 'fees'>> {
  const sum = { records: 0, versions: 0, fee_events: 0, keys: 0 }
  let from: ErasePlace | undefined
  do {
    const { removed, next, destroys } = await operator.eraseSome(customerId, clientIds, from)
    if (destroys !== undefined) await destroy(destroys)
    sum.records += removed.records
    sum.versions += removed.versions
    sum.fee_events += removed.feeEvents
    sum.keys += removed.keys
    from = next
    if (from !== undefined) await systemTime.pause(limits.eraseRestMs)
  } while (from !== undefined)
  return sum
}
