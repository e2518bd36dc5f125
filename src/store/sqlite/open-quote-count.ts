import type { DatabaseSync } from 'node:sqlite'
import { largest } from '../../values/bounds.ts'
import { instant } from './credentials-rows.ts'

/** Counts the quotes that each client holds open. Every call belongs inside a transaction of the quotes' database. */
export type OpenQuoteCount = {
  /** Counts one more, or says when the first of `openMax` open ones expires. */
  add(quote: CountedQuote, now: bigint, openMax: number): { readonly fullUntil: bigint } | undefined
  /** A quote was consumed: it is open no more. */
  remove(quote: CountedQuote): void
}

type CountedQuote = { readonly clientId: string; readonly expiresAt: bigint }

/**
 * The number in `fee_client` is exact at `counted_to`; what has expired since is taken off when the client next asks.
 * So each quote is looked at once when it comes and once when it goes, however many the client holds.
 */
export function openQuoteCount(db: DatabaseSync): OpenQuoteCount {
  const prepare = (sql: string) => {
    const statement = db.prepare(sql)
    statement.setReadBigInts(true)
    return statement
  }
  const read = prepare('select open, counted_to, open_until from fee_client where client_id = ?')
  const expired = prepare(
    `select count(*) as n from fee_quote indexed by fee_quote_unconsumed
     where client_id = ? and consumed_at is null and expires_at > ? and expires_at <= ?`,
  )
  const firstExpiry = prepare(
    `select expires_at from fee_quote indexed by fee_quote_unconsumed
     where client_id = ? and consumed_at is null and expires_at > ? order by expires_at limit 1`,
  )
  const write = prepare('insert or replace into fee_client values (?, ?, ?, ?)')
  const takeOff = prepare(
    'update fee_client set open = open - 1 where client_id = ? and counted_to < ?',
  )
  const countAt = (clientId: string, now: bigint) => {
    const row = read.get(clientId)
    if (row === undefined) return { open: 0n, countedTo: now, openUntil: 0n }
    const [countedTo, openUntil] = [instant(row, 'counted_to'), instant(row, 'open_until')]
    // Another process's clock may be ahead of ours; what it has taken off is not taken off twice.
    if (now <= countedTo) return { open: instant(row, 'open'), countedTo, openUntil }
    // Also where a sweep has taken the rows that would have to be counted.
    if (openUntil <= now) return { open: 0n, countedTo: now, openUntil }
    const gone = instant(expired.get(clientId, countedTo, now) ?? {}, 'n')
    return { open: instant(row, 'open') - gone, countedTo: now, openUntil }
  }
  return {
    add({ clientId, expiresAt }, now, openMax) {
      const { open, countedTo, openUntil } = countAt(clientId, now)
      if (open >= BigInt(openMax)) {
        const first = firstExpiry.get(clientId, countedTo)
        return { fullUntil: first === undefined ? openUntil : instant(first, 'expires_at') }
      }
      write.run(clientId, open + 1n, countedTo, largest(expiresAt, openUntil))
      return undefined
    },
    remove({ clientId, expiresAt }) {
      takeOff.run(clientId, expiresAt)
    },
  }
}
