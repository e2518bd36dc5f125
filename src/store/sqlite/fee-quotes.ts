import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { limits } from '../../platform/limits.ts'
import { isCryptoNetwork } from '../../values/network.ts'
import type {
  Consumed,
  ConsumeRequest,
  FeeQuote,
  FeeQuoteStore,
  Issued,
  NewFeeQuote,
} from '../fee-quotes.ts'
import { judgeConsumption } from '../sql/judge-consumption.ts'
import { readMigrations } from '../sql/migration.ts'
import { instant, type Row, text } from './credentials-rows.ts'
import { guarded, openDatabase } from './database.ts'
import { openGroupCommit } from './group-commit.ts'
import { inTransaction, migrate } from './migrate.ts'
import { type OpenQuoteCount, openQuoteCount } from './open-quote-count.ts'

const migrations = readMigrations(new URL('./migrations/fee-quotes/', import.meta.url), [
  '0001-fee-quotes.sql',
])

/**
 * The guaranteed fees, in the credentials' database file and over a connection of their own: an import of records
 * never holds up a quote, and a quote's transaction is nobody else's.
 */
export function openSqliteFeeQuotes(path: string): FeeQuoteStore {
  const db = openDatabase(path)
  migrate(db, 'fee-quotes', migrations)
  const count = openQuoteCount(db)
  const commit = openGroupCommit(db, limits.quotesPerCommitMax)
  const insert = openInsert(db, count)
  const find = openFind(db)
  const consume = openConsume(db, find, count)
  // The oldest ids first, and no further than the batch: nothing is searched.
  const sweep = db.prepare(
    `delete from fee_quote where created_at < ? and id in (select id from fee_quote order by id limit ?)`,
  )
  return {
    customers: {
      issue: (tenant, quote, openMax) => commit(() => insert(tenant, quote, openMax)),
    },
    operator: {
      find: async (id) => guarded(() => find(id)),
      consume: async (request) => guarded(() => inTransaction(db, () => consume(request))),
      sweep: async (madeBefore, rowsMax) =>
        guarded(() => Number(sweep.run(madeBefore, rowsMax).changes)),
      clear: async () =>
        guarded(() =>
          inTransaction(db, () => db.exec('delete from fee_quote; delete from fee_client')),
        ),
    },
    close: async () => db.close(),
  }
}

function openInsert(db: DatabaseSync, count: OpenQuoteCount) {
  const statement = db.prepare(
    'insert into fee_quote values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, null, null)',
  )
  return (customerId: string, quote: NewFeeQuote, openMax: number): Issued => {
    const full = count.add(quote, quote.createdAt, openMax)
    if (full !== undefined) return { outcome: 'too-many-open', nextExpiryAt: full.fullUntil }
    statement.run(
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
  const statement = db.prepare('select * from fee_quote where id = ?')
  statement.setReadBigInts(true)
  return (id) => {
    const row = statement.get(id)
    return row === undefined ? undefined : readQuote(row)
  }
}

function openConsume(
  db: DatabaseSync,
  find: (id: string) => FeeQuote | undefined,
  count: OpenQuoteCount,
) {
  const take = db.prepare(
    'update fee_quote set withdrawal = ?, consumed_at = ? where id = ? and consumed_at is null',
  )
  return (request: ConsumeRequest): Consumed => {
    const quote = find(request.id)
    const judgement = judgeConsumption(quote, request)
    if (judgement.outcome !== 'free' || quote === undefined) {
      return judgement.outcome === 'free' ? { outcome: 'unknown' } : judgement
    }
    const { withdrawal, at } = request
    const { changes } = take.run(withdrawal, at, request.id)
    assert(changes === 1, 'a quote that was free in this transaction has been taken within it')
    count.remove(quote)
    const consumption = { withdrawal, at }
    return { outcome: 'consumed', quote: { ...quote, consumption }, again: false }
  }
}

function readQuote(row: Row): FeeQuote {
  const network = text(row, 'network')
  assert(isCryptoNetwork(network), 'a stored quote is on a network that this version does not know')
  return {
    id: text(row, 'id'),
    customerId: text(row, 'customer_id'),
    clientId: text(row, 'client_id'),
    asset: text(row, 'asset'),
    network,
    address: text(row, 'address'),
    canonicalAddress: text(row, 'canonical_address'),
    amount: text(row, 'amount'),
    fee: text(row, 'fee'),
    total: text(row, 'total'),
    createdAt: instant(row, 'created_at'),
    expiresAt: instant(row, 'expires_at'),
    consumption:
      row.withdrawal === null
        ? undefined
        : { withdrawal: text(row, 'withdrawal'), at: instant(row, 'consumed_at') },
  }
}
