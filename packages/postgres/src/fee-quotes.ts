import { baseLimits, ConfigError, limitsOf, systemTime } from '@bursar/base'
import {
  type FeeQuoteStore,
  type IssueAnswer,
  type IssueBatch,
  type IssueRequest,
  type NamedRow,
  type OperatorSessions,
  openFeeQuotes,
  recordsLimits,
  type Statement,
  text,
  whole,
} from '@bursar/records'
import type { Servers } from './cluster/servers.ts'
import { committed, transactOn } from './cluster/transaction.ts'
import { dialect } from './dialect.ts'
import { type Connection, textArray } from './driver/connection.ts'
import { isRefusal } from './driver/failure.ts'
import { rowsOf } from './session.ts'

const limits = limitsOf({
  /** After this time the database ends a consumption whose process has vanished. */
  consumptionIdleMs: 5000,
})

export type FeeQuoteDeps = {
  /** As role `bursar`. */
  readonly customers: Servers
  /** As role `bursar_operator`. Undefined if this process serves customers only. */
  readonly operator: Servers | undefined
  /** The time that storing or consuming a quote may take, including its wait for a batch. */
  readonly withinMs?: number
}

/** Stores fee quotes in PostgreSQL. The caller closes the servers. */
export function openPostgresFeeQuotes(deps: FeeQuoteDeps): FeeQuoteStore {
  const { customers, operator, withinMs = recordsLimits.quoteIssueMs } = deps
  const quotes = openFeeQuotes({
    dialect,
    issue: issueOn(customers),
    operator: operator === undefined ? withoutOperator : sessionsOf(operator),
    withinMs,
    // Leaves the batch at least half of the time.
    waitMs: withinMs / 2,
    metrics: customers.metrics,
  })
  return { ...quotes, close: async () => {} }
}

const refuse = async (): Promise<never> => {
  throw new ConfigError(
    'Fee quotes are consumed, shown and swept as the operator: set OPERATOR_DATABASE_URL to the URL of role bursar_operator.',
  )
}
const withoutOperator: OperatorSessions = { rows: refuse, transact: refuse }

/** If this process vanishes, the database frees the locks of its transaction soon. */
const FREES_LOCKS = `
  select set_config('idle_in_transaction_session_timeout', '${limits.consumptionIdleMs}', true)`

const sessionsOf = (servers: Servers): OperatorSessions => ({
  ...rowsOf(servers),
  transact: transactOn(servers, FREES_LOCKS),
})

/**
 * A function of the database counts and stores in one round trip, because row-level security wants
 * a setting for each customer.
 */
const issueOn =
  (customers: Servers): IssueBatch =>
  async (batch, deadline) => {
    const withinMs = deadline - systemTime.elapsedMs()
    const rows = await customers.onPrimary((connection) => issue(connection, batch), withinMs)
    if (rows === 'values-refused') return rows
    const answers: IssueAnswer[] = []
    for (const row of rows) {
      const at = Number(whole(row, 'place')) - 1
      const request = batch[at]
      if (request !== undefined) answers[at] = readAnswer(row, request)
    }
    return answers
  }

async function issue(
  connection: Connection,
  batch: readonly IssueRequest[],
): Promise<readonly NamedRow[] | 'values-refused'> {
  try {
    return await committed(connection.rows(issueStatement(batch)))
  } catch (error) {
    if (batch.length > 1 && isRefusal(error) && isAboutValues(error)) return 'values-refused'
    throw error
  }
}

/** SQLSTATE classes for a wrong value (PostgreSQL, appendix A): data, constraint, size. */
const isAboutValues = (error: unknown): boolean =>
  /^(22|23|54)/.test(String((error as { code?: unknown }).code))

function readAnswer(row: NamedRow, { quote }: IssueRequest): IssueAnswer {
  const outcome = text(row, 'outcome')
  const at = whole(row, 'decided_at')
  if (outcome === 'stored') {
    return { outcome, createdAt: at, expiresAt: at + microseconds(quote.lifeSeconds) }
  }
  if (outcome !== 'too-many-open') return { outcome: 'id-taken' }
  return { outcome, nextExpiryAt: whole(row, 'next_expiry_at'), at }
}

/** The casts name the types, so that PostgreSQL finds the function without guessing. */
const ISSUE = `select place, outcome, decided_at, next_expiry_at from bursar.issue_fee_quotes(
  $1::text[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
  $8::text[], $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint)`

const microseconds = (seconds: number): bigint => BigInt(seconds) * 1_000_000n

function issueStatement(requests: readonly IssueRequest[]): Statement {
  const column = (read: (request: IssueRequest) => string) => textArray(requests.map(read))
  return {
    text: ISSUE,
    values: [
      column(({ tenant }) => tenant),
      column(({ quote }) => quote.clientId),
      column(({ quote }) => quote.id),
      column(({ quote }) => quote.asset),
      column(({ quote }) => quote.network),
      column(({ quote }) => quote.address),
      column(({ quote }) => quote.canonicalAddress),
      column(({ quote }) => quote.amount),
      column(({ quote }) => quote.fee),
      column(({ quote }) => quote.total),
      column(({ quote }) => String(microseconds(quote.lifeSeconds))),
      column(({ openMax }) => String(openMax)),
      microseconds(baseLimits.quoteLifeSecondsMax),
    ],
    prepare: true,
  }
}
