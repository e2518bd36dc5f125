import assert from 'node:assert/strict'
import { type Clock, isCryptoNetwork, printInstant } from '@bursar/base'
import type { BodyInput, Principal, Work } from '@bursar/contract'
import {
  type AddressPolicy,
  type FeeBasis,
  type QuoteRequest,
  quoteFee,
  traitsOf,
} from '@bursar/fees'
import type { FeeQuoteStore, NewFeeQuote } from '@bursar/records'
import { v7 as timeOrderedUuid } from 'uuid'
import { quoteProblem, tooManyOpenQuotes } from './fee-problems.ts'

export type QuoteDeps = {
  readonly basis: () => FeeBasis
  readonly quotes: Pick<FeeQuoteStore, 'customers'>
  readonly clock: Clock
  readonly policy: AddressPolicy
  /** Open quotes of one client at most: each is an option that the operator gives away. */
  readonly openMax: number
}

/**
 * The work of createCryptoWithdrawalFee. Quoting is pure and synchronous. The quote is on disk
 * before it is answered, so the fee is guaranteed after a power cut too.
 */
export function quoteWithdrawal(deps: QuoteDeps): Work<Principal> {
  return async ({ caller, body, trace }) => {
    const request = requestOf(body)
    const quoted = quoteFee(deps.basis(), request, deps.clock(), deps.policy)
    if (!quoted.ok) throw quoteProblem(quoted, request)
    trace.fee = { asset: request.asset, network: request.network, ...quoted.origin }
    const quote: NewFeeQuote = {
      id: timeOrderedUuid(),
      clientId: caller.clientId,
      asset: request.asset,
      network: request.network,
      address: request.address,
      canonicalAddress: traitsOf(request.network).spellAddress(request.address, quoted.addressKind),
      amount: quoted.amount,
      fee: quoted.fee,
      total: quoted.total,
      lifeSeconds: quoted.ttlSeconds,
    }
    const issued = await deps.quotes.customers.issue(caller.tenant, quote, deps.openMax)
    if (issued.outcome === 'too-many-open') {
      throw tooManyOpenQuotes(deps.openMax, issued.nextExpiryAt, issued.at)
    }
    return { body: answerOf(quote, issued.expiresAt) }
  }
}

function requestOf(body: BodyInput): QuoteRequest {
  const network = body.get('crypto_network')
  assert(isCryptoNetwork(network), 'the declaration of the body requires a network')
  const amount = body.get('amount')
  return {
    asset: body.get('asset') ?? '',
    network,
    address: body.get('destination_address') ?? '',
    figure:
      amount === undefined
        ? { name: 'total', text: body.get('total') ?? '' }
        : { name: 'amount', text: amount },
  }
}

/** Contract, section 2.11. */
const answerOf = (quote: NewFeeQuote, expiresAt: bigint) => ({
  id: quote.id,
  fee: quote.fee,
  asset: quote.asset,
  expires_at: printInstant(expiresAt),
  destination_address: quote.address,
  crypto_network: quote.network,
  amount: quote.amount,
  total: quote.total,
})
