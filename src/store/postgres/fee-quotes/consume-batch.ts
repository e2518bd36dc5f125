import assert from 'node:assert/strict'
import { uuid } from '../../../contract/fields.ts'
import { limits } from '../../../platform/limits.ts'
import { openBatchQueue, type PendingRequest } from '../../batch-queue.ts'
import { findRecovery } from '../../credentials/stored-recovery.ts'
import type { Consumed, ConsumeRequest, FeeQuote } from '../../fee-quotes.ts'
import { type NamedRow, whole } from '../../row.ts'
import { quoteColumns, readQuote } from '../../sql/fee-quotes/fee-quote-rows.ts'
import { judgeInRecovery } from '../../sql/recovery/judge-recovery.ts'
import type { Servers } from '../cluster/servers.ts'
import { transact } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import { type Connection, textArray } from '../driver/connection.ts'
import { sessionOf } from '../session.ts'

type Batch = readonly PendingRequest<ConsumeRequest, Consumed>[]

/**
 * Consumes quotes in batches, so that requests share sessions, round trips and the waits for disk
 * and standby. One transaction each would hold a session while it waits for the row of a quote that
 * others race for, until no session is left. A consumption that is not certain in `withinMs`,
 * waiting included, rejects with a StoreUnavailable.
 */
export function openConsume(servers: Servers, withinMs: number) {
  const enqueue = openBatchQueue<ConsumeRequest, Consumed>({
    name: 'consumptions',
    run: async (batch, oldestRequestedAt) => {
      const leftMs = oldestRequestedAt + withinMs - performance.now()
      const answers = await servers.onPrimary(
        (connection) => transact(connection, () => consumeTogether(connection, batch)),
        leftMs,
      )
      for (const [at, { result }] of batch.entries()) {
        result.resolve(answers[at] ?? { outcome: 'unknown' })
      }
    },
    weightMax: limits.consumptionsPerCommitMax,
    runningMax: limits.consumptionCommitsMax,
    startsFullBatches: false,
    waitingMax: limits.consumptionsWaitingMax,
    // Leaves the batch at least half of the time.
    waitMs: withinMs / 2,
  })
  return (request: ConsumeRequest): Promise<Consumed> => {
    const reading = uuid.read(request.id)
    // No quote can have an id that is not a UUID.
    if ('reason' in reading) return Promise.resolve({ outcome: 'unknown' })
    return enqueue({ ...request, id: reading.value })
  }
}

/** Judges the requests in their order, each after the consumptions before it. */
async function consumeTogether(connection: Connection, batch: Batch): Promise<readonly Consumed[]> {
  const rows = await lockQuotes(connection, [...new Set(batch.map(({ request }) => request.id))])
  const quotes = new Map(rows.map((row) => [String(row.id), readQuote(row)]))
  const last = rows.at(-1)
  if (last === undefined) return []
  const now = whole(last, 'now')
  const recovery = await findRecovery(sessionOf(connection), dialect.tableName)
  const consumed = new Map<string, FeeQuote>()
  const answers = batch.map(({ request }): Consumed => {
    const quote = quotes.get(request.id)
    const judgement = judgeInRecovery(quote, request, now, recovery)
    if (quote === undefined) return { outcome: 'unknown' }
    if (judgement.outcome !== 'free') {
      // The standby may not have confirmed the first commit, so this writes the same values.
      if (judgement.outcome === 'consumed') consumed.set(quote.id, quote)
      return judgement
    }
    const { withdrawal, consumedAt: at = now } = request
    const taken = { ...quote, consumption: { withdrawal, at } }
    quotes.set(quote.id, taken)
    consumed.set(quote.id, taken)
    return { outcome: 'consumed', quote: taken, again: false }
  })
  if (consumed.size > 0) await updateConsumptions(connection, [...consumed.values()])
  return answers
}

/**
 * Locks the rows until the commit, so that only one withdrawal can find a quote free. The order of
 * the locks is that of the ids, so no two batches can deadlock. The last row has the time after all
 * locks. If this process vanishes, the database frees them soon.
 */
const LOCK = `
  with locked as materialized (
    select ${quoteColumns} from bursar.fee_quote where id = any ($1::uuid[])
    order by id for update
  )
  select locked.*, bursar.clock_microseconds() as now,
    set_config('idle_in_transaction_session_timeout', $2, true) from locked`

const lockQuotes = (connection: Connection, ids: readonly string[]): Promise<readonly NamedRow[]> =>
  connection.rows({
    text: LOCK,
    values: [textArray(ids), String(limits.consumptionIdleMs)],
    prepare: true,
  })

const UPDATE = `
  update bursar.fee_quote as quote
  set withdrawal = consumed.withdrawal, consumed_at = consumed.consumed_at
  from unnest($1::uuid[], $2::text[], $3::bigint[]) as consumed (id, withdrawal, consumed_at)
  where quote.id = consumed.id
    and (quote.consumed_at is null or quote.withdrawal = consumed.withdrawal)
  returning 1`

async function updateConsumptions(
  connection: Connection,
  quotes: readonly FeeQuote[],
): Promise<void> {
  const column = (read: (quote: FeeQuote) => string) => textArray(quotes.map(read))
  const updated = await connection.rows({
    text: UPDATE,
    values: [
      column(({ id }) => id),
      column(({ consumption }) => consumption?.withdrawal ?? ''),
      column(({ consumption }) => String(consumption?.at)),
    ],
    prepare: true,
  })
  assert(
    updated.length === quotes.length,
    'Another transaction has consumed a quote that this one had locked.',
  )
}
