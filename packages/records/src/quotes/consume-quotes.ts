import assert from 'node:assert/strict'
import { limitsOf } from '@bursar/base'
import { uuid } from '@bursar/contract'
import { openBatchQueue } from '../batch-queue.ts'
import { findRecovery } from '../credentials/stored-recovery.ts'
import type { Dialect } from '../dialect.ts'
import type { Consumed, ConsumeRequest, FeeQuote } from '../fee-quotes.ts'
import { whole } from '../row.ts'
import type { Session } from '../session.ts'
import { judgeConsumption } from './judge-consumption.ts'
import { quoteColumns, readQuote } from './quote-rows.ts'
import type { QuoteSessions } from './quote-sessions.ts'

const limits = limitsOf({
  /** Consumptions that share a commit, and that may wait for it. A full one takes about 15 ms. */
  consumptionsPerCommitMax: 500,
  /** Commits at a time: one that waits for a locked quote does not hold up the others. */
  consumptionCommitsMax: 4,
  /** Consumptions that may wait for the current commit. */
  consumptionsWaitingMax: 5000,
})

/**
 * Consumes quotes in batches, so that requests share sessions, round trips and the waits for disk
 * and standby. One transaction each would hold a session while it waits for the row of a quote that
 * others race for, until no session is left. A consumption that is not certain in `withinMs`,
 * waiting included, rejects with a StoreUnavailable.
 */
export function openConsume({ dialect, operator, withinMs, waitMs, metrics }: QuoteSessions) {
  const statements = consumeStatements(dialect)
  const enqueue = openBatchQueue<ConsumeRequest, Consumed>({
    name: 'consumptions',
    metrics,
    run: async (batch, oldestRequestedAt) => {
      const requests = batch.map(({ request }) => request)
      const answers = await operator.transact(
        (session) => consumeTogether(session, dialect, statements, requests),
        oldestRequestedAt + withinMs,
      )
      for (const [at, { result }] of batch.entries()) {
        result.resolve(answers[at] ?? { outcome: 'unknown' })
      }
    },
    weightMax: limits.consumptionsPerCommitMax,
    runningMax: limits.consumptionCommitsMax,
    startsFullBatches: false,
    waitingMax: limits.consumptionsWaitingMax,
    waitMs,
  })
  return (request: ConsumeRequest): Promise<Consumed> => {
    const reading = uuid.read(request.id)
    // No quote can have an id that is not a UUID.
    if ('reason' in reading) return Promise.resolve({ outcome: 'unknown' })
    return enqueue({ ...request, id: reading.value })
  }
}

/**
 * `lock` locks the rows until the commit, so that only one withdrawal can find a quote free. The
 * order of the locks is that of the ids, so no two batches can deadlock. The last row has the time
 * after all locks.
 */
function consumeStatements(dialect: Dialect) {
  const quotes = dialect.tableName('fee_quote')
  const consumed = dialect.unnest('consumed', {
    id: 'uuid[]',
    withdrawal: 'text[]',
    consumed_at: 'bigint[]',
  })
  return {
    lock: `
      with locked as materialized (
        select ${quoteColumns} from ${quotes}
        where ${dialect.isAnyOf('id', dialect.parameter(1, 'uuid[]'))}
        order by id ${dialect.forUpdate('wait')}
      )
      select locked.*, ${dialect.now} as now from locked`,
    update: `
      update ${quotes} as quote
      set withdrawal = consumed.withdrawal, consumed_at = consumed.consumed_at
      from ${consumed}
      where quote.id = consumed.id
        and (quote.consumed_at is null or quote.withdrawal = consumed.withdrawal)
      returning 1`,
    announce: `
      insert into ${dialect.tableName('fee_event_due')} (id, customer_id)
      select id, customer_id from ${dialect.unnest('due', { id: 'uuid[]', customer_id: 'text[]' })}
      where true on conflict (id) do nothing`,
  }
}

/** Judges the requests in their order, each after the consumptions before it. */
async function consumeTogether(
  session: Session,
  { list, tableName }: Dialect,
  { lock, update, announce }: ReturnType<typeof consumeStatements>,
  requests: readonly ConsumeRequest[],
): Promise<readonly Consumed[]> {
  const ids = list([...new Set(requests.map(({ id }) => id))])
  const rows = await session.rows({ text: lock, values: [ids], prepare: true })
  const last = rows.at(-1)
  if (last === undefined) return []
  const now = whole(last, 'now')
  const quotes = new Map(rows.map((row) => [String(row.id), readQuote(row)]))
  const recovery = await findRecovery(session, tableName)
  const consumed = new Map<string, FeeQuote>()
  const isFirst = new Set<string>()
  const answers = requests.map((request): Consumed => {
    const quote = quotes.get(request.id)
    const judgement = judgeConsumption(quote, request, now, recovery)
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
    isFirst.add(quote.id)
    return { outcome: 'consumed', quote: taken, again: false }
  })
  if (consumed.size === 0) return answers
  const changed = [...consumed.values()]
  const values = [
    list(changed.map(({ id }) => id)),
    list(changed.map(({ consumption }) => consumption?.withdrawal ?? '')),
    list(changed.map(({ consumption }) => String(consumption?.at))),
  ]
  const updated = await session.rows({ text: update, values, prepare: true })
  const first = changed.filter(({ id }) => isFirst.has(id))
  if (first.length > 0) {
    const due = [list(first.map(({ id }) => id)), list(first.map(({ customerId }) => customerId))]
    await session.rows({ text: announce, values: due, prepare: true })
  }
  const isWhole = updated.length === changed.length
  assert(isWhole, 'Another transaction has consumed a quote that this one had locked.')
  return answers
}
