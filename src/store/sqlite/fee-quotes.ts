import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { limits } from '../../platform/limits.ts'
import type {
  Consumed,
  ConsumeRequest,
  FeeQuote,
  FeeQuoteStore,
  Issued,
  NewFeeQuote,
} from '../fee-quotes.ts'
import { openBatchQueue } from '../sql/batch-queue.ts'
import { quoteColumns, readQuote } from '../sql/fee-quote-rows.ts'
import { judgeConsumption } from '../sql/judge-consumption.ts'
import { readMigrations } from '../sql/migration.ts'
import { whole } from '../sql/row.ts'
import { prepare } from './database.ts'
import { openWrites, retryWhileLocked, type Write } from './locks.ts'
import { openMigrated } from './migrate.ts'

const migrations = readMigrations(new URL('./migrations/fee-quotes/', import.meta.url), [
  '0001-fee-quotes.sql',
])

/** Uses the file of the credentials, so that no import blocks a quote, over its own connection. */
export function openSqliteFeeQuotes(path: string): FeeQuoteStore {
  const db = openMigrated(path, 'fee-quotes', migrations)
  const write = openWrites(db)
  const issue = openIssue(db, write)
  const find = openFind(db)
  const consume = openConsume(db, find)
  // Looks at no more rows than it may delete: the oldest by id, which rises with time.
  const sweep = db.prepare(
    `delete from fee_quote
     where created_at < ? and id in (select id from fee_quote order by id limit ?)`,
  )
  return {
    customers: { issue: (customerId, quote, openMax) => issue({ customerId, quote, openMax }) },
    operator: {
      find: (id) => retryWhileLocked(() => find(id)),
      consume: (request) => write(() => consume(request)),
      sweep: (createdBefore, rowsMax) =>
        write(() => Number(sweep.run(createdBefore, rowsMax).changes)),
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
function openIssue(db: DatabaseSync, write: Write): (request: IssueRequest) => Promise<Issued> {
  const insert = openInsert(db)
  return openBatchQueue<IssueRequest, Issued>({
    name: 'fee quotes',
    run: async (batch, oldestRequestedAt) => {
      const committed = await write(() => {
        const openByClient = new Map<string, number>()
        return batch.map(({ request, result }) => ({
          issued: insert(request, openByClient),
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
    where client_id = ? and consumed_at is null and expires_at > ?`
  const countRows = prepare(db, `select count(*) as count ${open}`)
  const firstRow = prepare(db, `select expires_at ${open} order by expires_at limit 1`)
  const insert = db.prepare(
    'insert into fee_quote values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, null, null)',
  )
  const countOpen = ({ clientId, createdAt }: NewFeeQuote): number =>
    Number(whole(countRows.get(clientId, createdAt) ?? {}, 'count'))
  const firstExpiry = ({ clientId, createdAt }: NewFeeQuote): bigint => {
    const row = firstRow.get(clientId, createdAt)
    return row === undefined ? createdAt : whole(row, 'expires_at')
  }
  /** Counts the open quotes once for each client and batch. `openByClient` keeps the counts. */
  return (
    { customerId, quote, openMax }: IssueRequest,
    openByClient: Map<string, number>,
  ): Issued => {
    const openCount = openByClient.get(quote.clientId) ?? countOpen(quote)
    openByClient.set(quote.clientId, openCount)
    if (openCount >= openMax) return { outcome: 'too-many-open', nextExpiryAt: firstExpiry(quote) }
    openByClient.set(quote.clientId, openCount + 1)
    insert.run(
      quote.id,
      customerId,
      quote.clientId,
      quote.asset,
      quote.network,
      quote.address,
      quote.canonicalAddress,
      quote.amount,
      quote.fee,
      quote.total,
      quote.createdAt,
      quote.expiresAt,
    )
    return { outcome: 'stored' }
  }
}

function openFind(db: DatabaseSync): (id: string) => FeeQuote | undefined {
  const statement = prepare(db, `select ${quoteColumns} from fee_quote where id = ?`)
  return (id) => {
    const row = statement.get(id)
    return row && readQuote(row)
  }
}

function openConsume(db: DatabaseSync, find: (id: string) => FeeQuote | undefined) {
  const update = db.prepare(
    'update fee_quote set withdrawal = ?, consumed_at = ? where id = ? and consumed_at is null',
  )
  return (request: ConsumeRequest): Consumed => {
    const quote = find(request.id)
    const judgement = judgeConsumption(quote, request)
    if (quote === undefined) return { outcome: 'unknown' }
    if (judgement.outcome !== 'free') return judgement
    const { withdrawal, at } = request
    const { changes } = update.run(withdrawal, at, request.id)
    assert(changes === 1, 'The transaction read this quote as free, but did not update it.')
    const consumption = { withdrawal, at }
    return { outcome: 'consumed', quote: { ...quote, consumption }, again: false }
  }
}
