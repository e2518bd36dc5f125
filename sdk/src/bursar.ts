import type { Received } from './calls.ts'
import type { ClientCredentials } from './client-credentials.ts'
import type { Fetch } from './fetch.ts'
import type { Feed, FollowOptions } from './follow.ts'
import type { Hooks } from './hooks.ts'
import type { List } from './list.ts'
import type { components, operations } from './schema.ts'
import type { AccessToken } from './tokens.ts'

type Schemas = components['schemas']
export type Query<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>

export type BursarOptions = {
  /** The address of the API, without `/v2`. */
  readonly baseUrl: string
  /** How often a request is sent at most; 5 by default. */
  readonly maxAttempts?: number
  /** The delay before the second attempt, doubled for each further one; 1000 by default. */
  readonly retryDelayMs?: number
  /** How long one attempt may take; 30,000 by default. */
  readonly timeoutMs?: number
  readonly fetch?: Fetch
  /** For logs, metrics and traces. */
  readonly hooks?: Hooks
} & (ClientCredentials | OwnTokens)

/** For browsers, which get a token from their own server, and for other grants. */
export type OwnTokens = { readonly fetchToken: () => Promise<AccessToken> }

/** For one call. Those that are absent are as for the client. */
export type RequestOptions = {
  readonly signal?: AbortSignal | undefined
  readonly maxAttempts?: number | undefined
  readonly timeoutMs?: number | undefined
}

/** What a call returns: its data, or with `withResponse` also the headers and the request id. */
export type Call<T> = Promise<T> & { withResponse(): Promise<Received<T>> }

/** A client of the API; it has one method for each operation. */
export type Bursar = {
  readonly events: {
    get(id: string, options?: RequestOptions): Call<Event>
    list(query?: Query<'listEvents'>, options?: RequestOptions): List<Event>
    /**
     * Events as they come, in their order, at least once each. Throws a `GoneError` if events after
     * the cursor are gone: read the lists again then.
     */
    follow(options?: FollowOptions & { readonly types?: readonly EventType[] }): Feed<Event>
  }
  readonly fiatAccounts: {
    get(id: string, options?: RequestOptions & Query<'getFiatAccount'>): Call<FiatAccount>
    list(query?: Query<'listFiatAccounts'>, options?: RequestOptions): List<FiatAccountListItem>
  }
  readonly fiatDepositInstructions: {
    get(
      id: string,
      options?: RequestOptions & Query<'getFiatDepositInstructions'>,
    ): Call<FiatDepositInstructions>
    list(
      query?: Query<'listFiatDepositInstructions'>,
      options?: RequestOptions,
    ): List<FiatDepositInstructions>
  }
  readonly depositAddresses: {
    list(query?: Query<'listDepositAddresses'>, options?: RequestOptions): List<DepositAddress>
  }
  readonly statements: {
    list(query: Query<'listStatements'>, options?: RequestOptions): List<Statement>
  }
  readonly issuerQuotes: {
    list(
      query?: Query<'listIssuerQuoteExecutions'>,
      options?: RequestOptions,
    ): List<IssuerQuoteExecution>
  }
  readonly cryptoWithdrawalFees: {
    create(
      request: CreateCryptoWithdrawalFeeRequest,
      options?: RequestOptions,
    ): Call<CryptoWithdrawalFee>
  }
}

export type Event = Schemas['Event']
export type EventType = Schemas['EventType']
export type FiatAccount = Schemas['FiatAccount']
export type FiatAccountListItem = Schemas['FiatAccountListItem']
export type FiatDepositInstructions = Schemas['FiatDepositInstructions']
export type DepositAddress = Schemas['DepositAddress']
export type Statement = Schemas['Statement']
export type IssuerQuoteExecution = Schemas['IssuerQuoteExecution']
/** Exactly one of `amount` and `total`. */
export type CreateCryptoWithdrawalFeeRequest =
  | (Schemas['CreateCryptoWithdrawalFeeRequestByAmount'] & { readonly total?: never })
  | (Schemas['CreateCryptoWithdrawalFeeRequestByTotal'] & { readonly amount?: never })
export type CryptoWithdrawalFee = Schemas['CryptoWithdrawalFee']
