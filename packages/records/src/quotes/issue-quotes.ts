import { limitsOf } from '@bursar/base'
import { openBatchQueue, type PendingRequest } from '../batch-queue.ts'
import type { FeeQuoteStore, Issued } from '../fee-quotes.ts'
import type { IssueBatch, IssueRequest, QuoteSessions } from './quote-sessions.ts'

const limits = limitsOf({
  /** Quotes that share a commit. A full commit takes about 10 ms. */
  quotesPerCommitMax: 1000,
  /** Quotes that may wait for the current commit. */
  quotesWaitingMax: 5000,
})

type Batch = readonly PendingRequest<IssueRequest, Issued>[]

/**
 * Stores the quotes of a batch in one commit, so that they share the waits for disk and standby. A
 * quote not stored in `withinMs`, waiting included, rejects with a StoreUnavailable.
 */
export function openIssue({
  issue,
  withinMs,
  waitMs,
  metrics,
}: QuoteSessions): FeeQuoteStore['customers']['issue'] {
  const enqueue = openBatchQueue<IssueRequest, Issued>({
    name: 'fee quotes',
    metrics,
    run: (batch, oldestRequestedAt) => issueBatch(issue, batch, oldestRequestedAt + withinMs),
    weightMax: limits.quotesPerCommitMax,
    runningMax: 1,
    startsFullBatches: false,
    waitingMax: limits.quotesWaitingMax,
    waitMs,
  })
  return (tenant, quote, openMax) => enqueue({ tenant, quote, openMax })
}

/** If the database refuses a value, issues each half by itself, until the quote is alone. */
async function issueBatch(issue: IssueBatch, batch: Batch, deadline: number): Promise<void> {
  try {
    const requests = batch.map(({ request }) => request)
    const answers = await issue(requests, deadline)
    if (answers !== 'values-refused') {
      for (const [at, { result }] of batch.entries()) {
        const answer = answers[at]
        if (answer !== undefined && answer.outcome !== 'id-taken') result.resolve(answer)
        else result.reject(new Error('A fee quote with this id is already stored.'))
      }
      return
    }
  } catch (error) {
    for (const { result } of batch) result.reject(error)
    return
  }
  const half = Math.ceil(batch.length / 2)
  await issueBatch(issue, batch.slice(0, half), deadline)
  await issueBatch(issue, batch.slice(half), deadline)
}
