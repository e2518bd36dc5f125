import type { CryptoNetwork } from '@bursar/base'
import type { Tenant } from '@bursar/contract'
import type { Recovery } from './credentials.ts'

/** A stored quote. Figures are decimal text, instants are microseconds since 1970, UTC. */
export type FeeQuote = {
  readonly id: string
  readonly customerId: string
  readonly clientId: string
  readonly asset: string
  readonly network: CryptoNetwork
  /** As the caller sent it; used in answers. */
  readonly address: string
  /** In the network's canonical spelling; used to compare addresses. */
  readonly canonicalAddress: string
  readonly amount: string
  readonly fee: string
  readonly total: string
  readonly createdAt: bigint
  readonly expiresAt: bigint
  readonly consumption: Consumption | undefined
  /** Whether its customer was erased: address and figures are empty. */
  readonly isErased: boolean
}

/** The withdrawal that consumed the quote, by its reference, and when. */
export type Consumption = { readonly withdrawal: string; readonly at: bigint }

/** The store's clock decides when a quote is created and expires. */
export type NewFeeQuote = Omit<
  FeeQuote,
  'customerId' | 'createdAt' | 'expiresAt' | 'consumption' | 'isErased'
> & { readonly lifeSeconds: number }

/** The withdrawal that is to be paid. It must match what the fee was quoted for. */
export type ConsumeRequest = {
  readonly id: string
  readonly customerId: string
  readonly asset: string
  readonly network: string
  /** In any spelling that the network allows. */
  readonly address: string
  readonly amount: string
  readonly withdrawal: string
  /** Records a consumption from before a restore, which the backup does not have. */
  readonly consumedAt?: bigint
}

export type BoundMember = 'asset' | 'network' | 'address' | 'amount'

export type Consumed =
  /** `again`: the same withdrawal had already consumed the quote. */
  | { readonly outcome: 'consumed'; readonly quote: FeeQuote; readonly again: boolean }
  | { readonly outcome: 'unknown' }
  /** The customer was erased, and what the fee was quoted for with it. */
  | { readonly outcome: 'erased'; readonly quote: FeeQuote }
  | {
      readonly outcome: 'mismatched'
      readonly quote: FeeQuote
      readonly members: readonly BoundMember[]
    }
  | { readonly outcome: 'taken'; readonly quote: FeeQuote; readonly consumption: Consumption }
  | { readonly outcome: 'expired'; readonly quote: FeeQuote }
  /** A withdrawal may have consumed the quote after the backup that was restored. */
  | { readonly outcome: 'unreconciled'; readonly quote: FeeQuote; readonly restoredAt: bigint }
  /** `consumedAt` was given for a quote that is not unreconciled, or is not before the restore. */
  | { readonly outcome: 'not-restored'; readonly quote: FeeQuote }

export type Issued =
  | { readonly outcome: 'stored'; readonly createdAt: bigint; readonly expiresAt: bigint }
  /**
   * The client has as many open quotes as it may; the first expires at `nextExpiryAt`. `at` is when
   * the store counted them.
   */
  | { readonly outcome: 'too-many-open'; readonly nextExpiryAt: bigint; readonly at: bigint }

export type Swept =
  | { readonly outcome: 'swept'; readonly deleted: number }
  /** The store's clock has jumped from `lastRunAt` to `at`, so nothing was deleted. */
  | { readonly outcome: 'refused'; readonly lastRunAt: bigint; readonly at: bigint }

export type StoreTimes = {
  /** By the clock of the store. */
  readonly now: bigint
  /** When the newest quote was created. Undefined where there is none. */
  readonly newestQuote: bigint | undefined
}

/**
 * The port to the guaranteed fees. A change is on disk before its method resolves. The clock of the
 * store judges every time: on PostgreSQL the server's, on the embedded store the machine's. So a
 * process with a wrong clock cannot change how long a fee of another process is guaranteed.
 */
export type FeeQuoteStore = {
  readonly customers: {
    /** Stores a quote unless the client has `openMax` that are neither consumed nor expired. */
    issue(tenant: Tenant, quote: NewFeeQuote, openMax: number): Promise<Issued>
  }
  readonly operator: {
    find(id: string): Promise<FeeQuote | undefined>
    /** The quotes that a withdrawal has consumed, by their ids; usually one. */
    ofWithdrawal(withdrawal: string, part: QuotesPart): Promise<readonly FeeQuote[]>
    /** Atomic across processes: at most one withdrawal gets the fee. */
    consume(request: ConsumeRequest): Promise<Consumed>
    /**
     * Deletes at most `rowsMax` of the quotes that expired before their retention, and no more in
     * one run than `quoteSweepRunRows`, counted over all processes. Deletes no open quote.
     */
    sweep(rowsMax: number): Promise<Swept>
    times(): Promise<StoreTimes>
    /** After a restore the sweep has paused, not jumped: it takes this moment for its last run. */
    resetSweep(): Promise<void>
    /** The open ones among the newest quotes, as many as the metrics count. */
    countOpen(): Promise<number>
    /** Restored quotes that a withdrawal may have consumed after the backup; at most `rowsMax`. */
    uncertain(recovery: Recovery, rowsMax: number): Promise<readonly FeeQuote[]>
    /** Consumed quotes that have no event yet, at most `quotesMax`. */
    withoutEvent(quotesMax: number): Promise<readonly Pick<FeeQuote, 'id' | 'customerId'>[]>
    /** Notes that these have one. */
    haveEvent(ids: readonly string[]): Promise<void>
    /**
     * Counts quotes of a customer, of as many as an erasure reads together, that are not erased.
     * Then erases them, if wished: ids and times are kept. `next` is where to go on.
     */
    eraseSome(customerId: string, part: QuotesToErase): Promise<ErasedQuotes>
    /** Deletes all quotes, for the reset of the sandbox. */
    clear(): Promise<void>
  }
  close(): Promise<void>
}

export type QuotesToErase = {
  /** The id that the first quote comes after. Undefined from the first one on. */
  readonly after: string | undefined
  readonly erases: boolean
}

export type ErasedQuotes = { readonly count: number; readonly next: string | undefined }

export type QuotesPart = {
  /** Undefined for quotes of every customer. */
  readonly customerId: string | undefined
  /** The id that the first quote comes after. */
  readonly after: string
  readonly quotesMax: number
}
