import type { Tenant } from '../../../contract/principal.ts'
import { limits } from '../../../platform/limits.ts'
import { openBatchQueue, type PendingRequest } from '../../batch-queue.ts'
import type { Issued, NewFeeQuote } from '../../fee-quotes.ts'
import { type NamedRow, text, whole } from '../../row.ts'
import type { Statement } from '../../session.ts'
import type { Servers } from '../cluster/servers.ts'
import { committed } from '../cluster/transaction.ts'
import { type Connection, textArray } from '../driver/connection.ts'
import { isRefusal } from '../driver/failure.ts'

type IssueRequest = {
  readonly tenant: Tenant
  readonly quote: NewFeeQuote
  readonly openMax: number
}

type Batch = readonly PendingRequest<IssueRequest, Issued>[]

/**
 * Stores the quotes of a batch in one commit, so that they share the waits for disk and standby. A
 * quote not stored in `withinMs`, waiting included, rejects with a StoreUnavailable.
 */
export function openIssue(servers: Servers, withinMs: number) {
  const enqueue = openBatchQueue<IssueRequest, Issued>({
    name: 'fee quotes',
    run: (batch, oldestRequestedAt) => issueBatch(servers, batch, oldestRequestedAt + withinMs),
    weightMax: limits.quotesPerCommitMax,
    runningMax: 1,
    startsFullBatches: false,
    waitingMax: limits.quotesWaitingMax,
    // Leaves the batch at least half of the time.
    waitMs: withinMs / 2,
  })
  return (tenant: Tenant, quote: NewFeeQuote, openMax: number): Promise<Issued> =>
    enqueue({ tenant, quote, openMax })
}

/** If the database refuses a value, issues each half by itself, until the quote is alone. */
async function issueBatch(servers: Servers, batch: Batch, deadline: number): Promise<void> {
  try {
    const withinMs = deadline - performance.now()
    const rows = await servers.onPrimary((connection) => issueTogether(connection, batch), withinMs)
    if (rows !== 'values-refused') {
      for (const row of rows) resolve(batch[Number(whole(row, 'place')) - 1], row)
      return
    }
  } catch (error) {
    for (const { result } of batch) result.reject(error)
    return
  }
  const half = Math.ceil(batch.length / 2)
  await issueBatch(servers, batch.slice(0, half), deadline)
  await issueBatch(servers, batch.slice(half), deadline)
}

async function issueTogether(
  connection: Connection,
  batch: Batch,
): Promise<readonly NamedRow[] | 'values-refused'> {
  try {
    return await committed(connection.rows(issueQuery(batch.map(({ request }) => request))))
  } catch (error) {
    if (batch.length > 1 && isRefusal(error) && isAboutValues(error)) return 'values-refused'
    throw error
  }
}

/** SQLSTATE classes for a wrong value (PostgreSQL, appendix A): data, constraint, size. */
const isAboutValues = (error: unknown): boolean =>
  /^(22|23|54)/.test(String((error as { code?: unknown }).code))

function resolve(pending: Batch[number] | undefined, row: NamedRow): void {
  const outcome = text(row, 'outcome')
  const at = whole(row, 'decided_at')
  if (outcome === 'stored' && pending !== undefined) {
    const expiresAt = at + microseconds(pending.request.quote.lifeSeconds)
    pending.result.resolve({ outcome, createdAt: at, expiresAt })
  } else if (outcome === 'too-many-open') {
    pending?.result.resolve({ outcome, nextExpiryAt: whole(row, 'next_expiry_at'), at })
  } else pending?.result.reject(new Error('A fee quote with this id is already stored.'))
}

/** The casts name the types, so that PostgreSQL finds the function without guessing. */
const ISSUE = `select place, outcome, decided_at, next_expiry_at from bursar.issue_fee_quotes(
  $1::text[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
  $8::text[], $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint)`

const microseconds = (seconds: number): bigint => BigInt(seconds) * 1_000_000n

function issueQuery(requests: readonly IssueRequest[]): Statement {
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
      microseconds(limits.quoteLifeSecondsMax),
    ],
    prepare: true,
  }
}
