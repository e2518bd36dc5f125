import type { Metrics } from '@bursar/base'
import type { Tenant } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { Issued, NewFeeQuote } from '../fee-quotes.ts'
import type { Session, Transact } from '../session.ts'

/** What an adapter gives the store of fee quotes. */
export type QuoteSessions = {
  readonly dialect: Dialect
  readonly operator: OperatorSessions
  readonly issue: IssueBatch
  /** The time that storing or consuming a quote may take, including its wait for a batch. */
  readonly withinMs: number
  /** A request that has waited this long for its batch is rejected. */
  readonly waitMs: number
  readonly metrics?: Metrics | undefined
}

/** Sessions that see the quotes of every customer. */
export type OperatorSessions = Pick<Session, 'rows'> & { readonly transact: Transact }

export type IssueRequest = {
  readonly tenant: Tenant
  readonly quote: NewFeeQuote
  readonly openMax: number
}

/**
 * Stores the quotes of a batch in one commit, by a deadline of `Time.elapsedMs`. Counts the open
 * quotes once for each client. `values-refused`: nothing is stored, because the database refuses a
 * value of one of several quotes.
 */
export type IssueBatch = (
  batch: readonly IssueRequest[],
  deadline: number,
) => Promise<readonly IssueAnswer[] | 'values-refused'>

export type IssueAnswer = Issued | { readonly outcome: 'id-taken' }
