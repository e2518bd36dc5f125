import { baseLimits, type Clock, limitsOf, type Metrics } from '@bursar/base'
import {
  type FeeQuoteStore,
  type IssueAnswer,
  type IssueBatch,
  type IssueRequest,
  openFeeQuotes,
  recordsLimits,
  type Session,
  type Transact,
  whole,
} from '@bursar/records'
import { dialect } from './dialect.ts'
import { retryWhileLocked } from './locks.ts'
import { openMigrated } from './migrate.ts'
import { openSession } from './session.ts'
import { type FileWriter, openWriterHere } from './thread/file-writer.ts'

const limits = limitsOf({
  /**
   * Pages of the write-ahead log before its commit copies them to the file: 32 MB. Most quotes
   * change another page of an index, which a longer log copies less often.
   */
  quoteLogPages: 4000,
})

/** Most changes are quotes, whose commits are many. */
export const credentialsSetup = `pragma wal_autocheckpoint = ${limits.quoteLogPages}`

/**
 * Uses the file of the credentials, so that no import blocks a quote. The clock is the machine's,
 * which the processes that open the file share.
 */
export function openSqliteFeeQuotes(
  path: string,
  clock: Clock,
  metrics?: Metrics,
  served?: FileWriter,
): FeeQuoteStore {
  const db = openMigrated(path, 'credentials')
  db.function('clock_microseconds', clock)
  const reading = openSession(db)
  // A read between two statements of a transaction would see what is not committed.
  const writer = served ?? openWriterHere(path, { clock, setup: credentialsSetup })
  const { transact } = writer
  const quotes = openFeeQuotes({
    dialect,
    issue: issueWith(transact, clock),
    operator: { rows: (statement) => retryWhileLocked(() => reading.rows(statement)), transact },
    withinMs: recordsLimits.quoteIssueMs,
    // A batch takes milliseconds once it has the lock of the file.
    waitMs: recordsLimits.quoteIssueMs,
    metrics,
  })
  const close = async () => {
    if (served === undefined) await writer.close()
    db.close()
  }
  return { ...quotes, close }
}

const issueWith =
  (transact: Transact, clock: Clock): IssueBatch =>
  (batch, deadline) =>
    transact((session) => issue(session, batch, clock()), deadline)

/** Statements whose results are not needed for the next one go to the thread together, in order. */
async function issue(
  session: Session,
  batch: readonly IssueRequest[],
  at: bigint,
): Promise<readonly IssueAnswer[]> {
  // Whole seconds, as answers print them.
  const now = (at / 1_000_000n) * 1_000_000n
  // A quote that expires later was issued while the clock was ahead. It does not count as open,
  // because it would lock its client out.
  const openUntil = now + microseconds(baseLimits.quoteLifeSecondsMax)
  const openOf = ({ tenant, quote }: IssueRequest) => [tenant, quote.clientId, now, openUntil]
  const clients = new Map(batch.map((request) => [request.quote.clientId, request]))
  const counts = [...clients].map(async ([clientId, request]) => {
    const [row = {}] = await session.rows({ text: COUNT_OPEN, values: openOf(request) })
    return [clientId, Number(whole(row, 'count'))] as const
  })
  const openByClient = new Map(await Promise.all(counts))
  const answers = batch.map(async (request): Promise<IssueAnswer> => {
    const { tenant, quote, openMax } = request
    const { clientId } = quote
    const openCount = openByClient.get(clientId) ?? 0
    if (openCount >= openMax) {
      const [first] = await session.rows({ text: FIRST_OPEN, values: openOf(request) })
      const nextExpiryAt = first === undefined ? now : whole(first, 'expires_at')
      return { outcome: 'too-many-open', nextExpiryAt, at: now }
    }
    openByClient.set(clientId, openCount + 1)
    const { id, asset, network, address, canonicalAddress, amount, fee, total } = quote
    const expiresAt = now + microseconds(quote.lifeSeconds)
    const bound = [asset, network, address, canonicalAddress, amount, fee, total]
    const values = [id, tenant, clientId, ...bound, now, expiresAt]
    await session.rows({ text: INSERT, values })
    return { outcome: 'stored', createdAt: now, expiresAt }
  })
  return await Promise.all(answers)
}

const microseconds = (seconds: number): bigint => BigInt(seconds) * 1_000_000n

const OPEN = `from fee_quote indexed by fee_quote_unconsumed
  where customer_id = $1 and client_id = $2 and consumed_at is null
    and expires_at > $3 and expires_at <= $4`
const COUNT_OPEN = `select count(*) as count ${OPEN}`
const FIRST_OPEN = `select expires_at ${OPEN} order by expires_at limit 1`
const INSERT = `insert into fee_quote
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, null, null)`
