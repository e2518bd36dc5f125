import type { Tenant } from '../contract/principal.ts'
import type { CryptoNetwork } from '../values/network.ts'

/** A guaranteed fee as it is kept. Figures are decimal text, instants microseconds since 1970, UTC. */
export type FeeQuote = {
  readonly id: string
  readonly customerId: string
  readonly clientId: string
  readonly asset: string
  readonly network: CryptoNetwork
  /** As the caller sent it, which is how it is answered … */
  readonly address: string
  /** … and in the network's one spelling, which is what it is compared by. */
  readonly canonicalAddress: string
  readonly amount: string
  readonly fee: string
  readonly total: string
  readonly createdAt: bigint
  readonly expiresAt: bigint
  readonly consumption: Consumption | undefined
}

/** Which withdrawal took the fee, in its system's own words, and when. */
export type Consumption = { readonly withdrawal: string; readonly at: bigint }

export type NewFeeQuote = Omit<FeeQuote, 'customerId' | 'consumption'>

/** What the withdrawal side says it is about to pay; all of it must be what the fee was quoted for. */
export type ConsumeRequest = {
  readonly id: string
  readonly customerId: string
  readonly asset: string
  readonly network: string
  /** In any of the network's spellings. */
  readonly address: string
  readonly amount: string
  readonly withdrawal: string
  readonly at: bigint
}

export type BoundMember = 'asset' | 'network' | 'address' | 'amount'

export type Consumed =
  /** `again`: the same withdrawal had it already, and is answered as it was the first time. */
  | { readonly outcome: 'consumed'; readonly quote: FeeQuote; readonly again: boolean }
  | { readonly outcome: 'unknown' }
  | {
      readonly outcome: 'mismatched'
      readonly quote: FeeQuote
      readonly members: readonly BoundMember[]
    }
  | { readonly outcome: 'taken'; readonly quote: FeeQuote; readonly consumption: Consumption }
  | { readonly outcome: 'expired'; readonly quote: FeeQuote }

export type Issued =
  | { readonly outcome: 'stored' }
  /** The client holds as many open quotes as it may; the first of them expires at `nextExpiryAt`. */
  | { readonly outcome: 'too-many-open'; readonly nextExpiryAt: bigint }

/**
 * The port to the guaranteed fees. What it resolves with is on disk: a fee that was answered survives a power cut,
 * and one that was consumed stays consumed. Two doors, as the records have: customers only ever issue.
 */
export type FeeQuoteStore = {
  readonly customers: {
    /** Stores a quote, unless the client would then hold more than `openMax` that can still be consumed. */
    issue(tenant: Tenant, quote: NewFeeQuote, openMax: number): Promise<Issued>
  }
  readonly operator: {
    find(id: string): Promise<FeeQuote | undefined>
    /** Atomic, also between processes: of any number of withdrawals, one gets the fee. */
    consume(request: ConsumeRequest): Promise<Consumed>
    /** Deletes at most `rowsMax` quotes, the oldest first, of those made before `madeBefore`; answers how many. */
    sweep(madeBefore: bigint, rowsMax: number): Promise<number>
    /** Empties the store. The sandbox's reset is the only caller. */
    clear(): Promise<void>
  }
  close(): Promise<void>
}
