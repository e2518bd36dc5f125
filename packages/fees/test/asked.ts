import assert from 'node:assert/strict'
import type { CryptoNetwork } from '@bursar/base'
import { encodeAddress } from '../../sandbox/src/encode-address.ts'
import type { FeeBasis } from '../src/fee-basis.ts'
import { type QuotedFee, type QuoteRequest, quoteFee } from '../src/quote-fee.ts'
import { now } from './sample-basis.ts'

export const addressOn = (network: CryptoNetwork): string =>
  encodeAddress(network, new Uint8Array(32).fill(9))

/** A request to an address of the network's most common kind. */
export function ask(
  asset: string,
  network: CryptoNetwork,
  figure: { amount: string } | { total: string },
  address = addressOn(network),
): QuoteRequest {
  const named =
    'amount' in figure
      ? ({ name: 'amount', text: figure.amount } as const)
      : ({ name: 'total', text: figure.total } as const)
  return { asset, network, address, figure: named }
}

/** The quote of a request. Fails with the refusal if there is none. */
export function quoted(basis: FeeBasis, request: QuoteRequest): QuotedFee {
  const quote = quoteFee(basis, request, now)
  assert(quote.ok, quote.ok ? '' : JSON.stringify(quote))
  return quote
}
