import assert from 'node:assert/strict'
import { isCryptoNetwork } from '@bursar/base'
import type { FeeQuote } from '../fee-quotes.ts'
import { type NamedRow, optionalText, text, whole } from '../row.ts'

/** The columns that `readQuote` reads. */
export const quoteColumns = `id, customer_id, client_id, asset, network, address,
  canonical_address, amount, fee, total, created_at, expires_at, withdrawal, consumed_at`

export function readQuote(row: NamedRow): FeeQuote {
  const network = text(row, 'network')
  assert(isCryptoNetwork(network), 'This version does not know the network of a stored quote.')
  const withdrawal = optionalText(row, 'withdrawal')
  const amount = text(row, 'amount')
  return {
    id: text(row, 'id'),
    customerId: text(row, 'customer_id'),
    clientId: text(row, 'client_id'),
    asset: text(row, 'asset'),
    network,
    address: text(row, 'address'),
    canonicalAddress: text(row, 'canonical_address'),
    amount,
    fee: text(row, 'fee'),
    total: text(row, 'total'),
    createdAt: whole(row, 'created_at'),
    expiresAt: whole(row, 'expires_at'),
    consumption:
      withdrawal === undefined ? undefined : { withdrawal, at: whole(row, 'consumed_at') },
    isErased: amount === '',
  }
}
