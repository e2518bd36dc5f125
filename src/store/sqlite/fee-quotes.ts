import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import { openBatchQueue } from '../batch-queue.ts'
import type {
  Consumed,
  ConsumeRequest,
  FeeQuote,
  FeeQuoteStore,
  Issued,
  NewFeeQuote,
  Swept,
} from '../fee-quotes.ts'
import { whole } from '../row.ts'
import {
  quoteColumns,
  quotesOfWithdrawal,
  readQuote,
  readSweepState,
  sweepColumns,
} from '../sql/fee-quotes/fee-quote-rows.ts'
import { judgeSweep } from '../sql/fee-quotes/judge-sweep.ts'
import { judgeInRecovery } from '../sql/recovery/judge-recovery.ts'
import { openRecovery, openRestoredQuotes } from './backup/recovery.ts'
import { prepare } from './database.ts'
import { openWrites, retryWhileLocked, type Write } from './locks.ts'
import { openMigrated } from './migrate.ts'

/**
 * Uses the file of the credentials, so that no import blocks a quote, over its own connection. The
 * clock is the machine's, which the processes that open the file share.
 */
export function openSqliteFeeQuotes(path: string, clock: Clock): FeeQuoteStore {
  const db = openMigrated(path, 'credentials')
  const write = openWrites(db)
  const issue = openIssue(db, write, clock)
  const find = openFind(db)
  const ofWithdrawal = prepare(db, quotesOfWithdrawal('fee_quote', ['?', '?', '?', '?']))
  const consume = openConsume(db, find, clock)
  const restored = openRestoredQuotes(db)
  const sweep = openSweep(db, clock)
  const resetSweep = db.prepare(
    'update fee_quote_sweep set last_run_at = ?, deleted = 0, refused_at = null, steady_for = 0',
  )
  return {
    customers: { issue: (customerId, quote, openMax) => issue({ customerId, quote, openMax }) },
    operator: {
      find: (id) => retryWhileLocked(() => find(id)),
      ofWithdrawal: (withdrawal, { customerId, after, quotesMax }) =>
        retryWhileLocked(() =>
          ofWithdrawal.all(withdrawal, customerId ?? null, after, quotesMax).map(readQuote),
        ),
      consume: (request) => write(() => consume(request)),
      sweep: (rowsMax) => write(() => sweep(rowsMax)),
      times: () =>
        retryWhileLocked(() => ({ now: clock(), newestQuote: restored.newestCreation() })),
      resetSweep: () => write(() => void resetSweep.run(clock())),
      uncertain: (recovery, rowsMax) =>
        retryWhileLocked(() => restored.uncertain(recovery, rowsMax)),
      clear: () => write(() => db.exec('delete from fee_quote')),
    },
    close: async () => db.close(),
  }
}

type IssueRequest = {
  readonly customerId: string
  readonly quote: NewFeeQuote
  readonly openMax: number
}

/** Stores the quotes of a batch in one transaction, so that they share the wait for the disk. */
function openIssue(
  db: DatabaseSync,
  write: Write,
  clock: Clock,
): (request: IssueRequest) => Promise<Issued> {
  const insert = openInsert(db)
  return openBatchQueue<IssueRequest, Issued>({
    name: 'fee quotes',
    run: async (batch, oldestRequestedAt) => {
      const committed = await write(() => {
        const openByClient = new Map<string, number>()
        // Whole seconds, as answers print them.
        const now = (clock() / 1_000_000n) * 1_000_000n
        return batch.map(({ request, result }) => ({
          issued: insert(request, now, openByClient),
          result,
        }))
      }, oldestRequestedAt + limits.quoteIssueMs)
      for (const { issued, result } of committed) result.resolve(issued)
    },
    weightMax: limits.quotesPerCommitMax,
    runningMax: 1,
    startsFullBatches: false,
    waitingMax: limits.quotesWaitingMax,
    waitMs: limits.quoteIssueMs,
  })
}

function openInsert(db: DatabaseSync) {
  const open = `from fee_quote indexed by fee_quote_unconsumed
    where client_id = ? and consumed_at is null and expires_at > ? and expires_at <= ?`
  const countRows = prepare(db, `select count(*) as count ${open}`)
  const firstRow = prepare(db, `select expires_at ${open} order by expires_at limit 1`)
  const insert = db.prepare(
    'insert into fee_quote values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, null, null)',
  )
  // A quote that expires later was issued while the clock was ahead. It does not count as open,
  // because it would lock its client out.
  const lifeMax = BigInt(limits.quoteLifeSecondsMax) * 1_000_000n
  const countOpen = (clientId: string, now: bigint): number =>
    Number(whole(countRows.get(clientId, now, now + lifeMax) ?? {}, 'count'))
  const firstExpiry = (clientId: string, now: bigint): bigint => {
    const row = firstRow.get(clientId, now, now + lifeMax)
    return row === undefined ? now : whole(row, 'expires_at')
  }
  /** Counts the open quotes once for each client and batch. `openByClient` keeps the counts. */
  return (
    { customerId, quote, openMax }: IssueRequest,
    now: bigint,
    openByClient: Map<string, number>,
  ): Issued => {
    const { clientId } = quote
    const openCount = openByClient.get(clientId) ?? countOpen(clientId, now)
    openByClient.set(clientId, openCount)
    if (openCount >= openMax) {
      return { outcome: 'too-many-open', nextExpiryAt: firstExpiry(clientId, now), at: now }
    }
    openByClient.set(clientId, openCount + 1)
    const expiresAt = now + BigInt(quote.lifeSeconds) * 1_000_000n
    insert.run(
      quote.id,
      customerId,
      clientId,
      quote.asset,
      quote.network,
      quote.address,
      quote.canonicalAddress,
      quote.amount,
      quote.fee,
      quote.total,
      now,
      expiresAt,
    )
    return { outcome: 'stored', createdAt: now, expiresAt }
  }
}

function openFind(db: DatabaseSync): (id: string) => FeeQuote | undefined {
  const statement = prepare(db, `select ${quoteColumns} from fee_quote where id = ?`)
  return (id) => {
    const row = statement.get(id)
    return row && readQuote(row)
  }
}

function openConsume(db: DatabaseSync, find: (id: string) => FeeQuote | undefined, clock: Clock) {
  const update = db.prepare(
    'update fee_quote set withdrawal = ?, consumed_at = ? where id = ? and consumed_at is null',
  )
  const recovery = openRecovery(db)
  return (request: ConsumeRequest): Consumed => {
    const quote = find(request.id)
    const now = clock()
    const judgement = judgeInRecovery(quote, request, now, recovery())
    if (quote === undefined) return { outcome: 'unknown' }
    if (judgement.outcome !== 'free') return judgement
    const { withdrawal, consumedAt: at = now } = request
    const { changes } = update.run(withdrawal, at, request.id)
    assert(changes === 1, 'The transaction read this quote as free, but did not update it.')
    const consumption = { withdrawal, at }
    return { outcome: 'consumed', quote: { ...quote, consumption }, again: false }
  }
}

function openSweep(db: DatabaseSync, clock: Clock): (rowsMax: number) => Swept {
  const readState = prepare(db, `select ${sweepColumns} from fee_quote_sweep`)
  const newest = prepare(db, 'select created_at from fee_quote order by id desc limit 1')
  // Looks at no more rows than it may delete: the oldest by id, which rises with time.
  const remove = db.prepare(
    `delete from fee_quote
     where expires_at < ? and id in (select id from fee_quote order by id limit ?)`,
  )
  const writeState = db.prepare(
    'update fee_quote_sweep set last_run_at = ?, deleted = ?, refused_at = ?, steady_for = ?',
  )
  return (rowsMax) => {
    const at = clock()
    const newestRow = newest.get()
    const newestAt = newestRow === undefined ? at : whole(newestRow, 'created_at')
    const last = readSweepState(readState.get() ?? {}, newestAt)
    const judgement = judgeSweep(last, at)
    const rows = Math.min(rowsMax, judgement.rowsMax)
    const deleted = Number(remove.run(judgement.expiredBefore, rows).changes)
    const { lastRunAt, refusedAt = null, steadyFor } = judgement.state
    writeState.run(lastRunAt, judgement.state.deleted + deleted, refusedAt, steadyFor)
    return judgement.isRefused
      ? { outcome: 'refused', lastRunAt, at }
      : { outcome: 'swept', deleted }
  }
}
