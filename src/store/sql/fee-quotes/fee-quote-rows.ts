import assert from 'node:assert/strict'
import { isCryptoNetwork } from '../../../values/network.ts'
import type { FeeQuote } from '../../fee-quotes.ts'
import { type NamedRow, optionalText, optionalWhole, text, whole } from '../../row.ts'
import type { SweepState } from './judge-sweep.ts'

/** The columns that `readQuote` reads. */
export const quoteColumns = `id, customer_id, client_id, asset, network, address,
  canonical_address, amount, fee, total, created_at, expires_at, withdrawal, consumed_at`

export const quotesOfWithdrawal = (
  table: string,
  [withdrawal, customer, after, quotesMax]: readonly [string, string, string, string],
): string =>
  `select ${quoteColumns} from ${table} where withdrawal = ${withdrawal}
   and customer_id = coalesce(${customer}, customer_id) and id > ${after}
   order by id limit ${quotesMax}`

export function readQuote(row: NamedRow): FeeQuote {
  const network = text(row, 'network')
  assert(isCryptoNetwork(network), 'This version does not know the network of a stored quote.')
  const withdrawal = optionalText(row, 'withdrawal')
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
    createdAt: whole(row, 'created_at'),
    expiresAt: whole(row, 'expires_at'),
    consumption:
      withdrawal === undefined ? undefined : { withdrawal, at: whole(row, 'consumed_at') },
  }
}

/** The columns that `readSweepState` reads. */
export const sweepColumns = 'last_run_at, deleted, refused_at, steady_for'

/** Before the first run the newest quote shows what time it is. A store without one has no time. */
export function readSweepState(row: NamedRow, newestAt: bigint): SweepState {
  return {
    lastRunAt: optionalWhole(row, 'last_run_at') ?? newestAt,
    deleted: Number(whole(row, 'deleted')),
    refusedAt: optionalWhole(row, 'refused_at'),
    steadyFor: whole(row, 'steady_for'),
  }
}
