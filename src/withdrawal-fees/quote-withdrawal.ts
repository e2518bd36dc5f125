import { randomUUIDv7 } from 'node:crypto'
import type { QuoteOperation } from '../contract/operation.ts'
import type { Principal } from '../contract/principal.ts'
import { type Answer, jsonAnswer, type Request } from '../contract/request.ts'
import type { AddressPolicy } from '../fees/addresses/address-check.ts'
import { spellingOf } from '../fees/addresses/canonical-address.ts'
import type { FeeBasis } from '../fees/fee-basis.ts'
import { quoteFee } from '../fees/quote-fee.ts'
import { type BodyInput, readBody } from '../http/pipeline/read-body.ts'
import type { Clock } from '../platform/clock.ts'
import type { FeeQuoteStore, NewFeeQuote } from '../store/fee-quotes.ts'
import { printInstant } from '../values/instant.ts'
import { type CryptoNetwork, isCryptoNetwork } from '../values/network.ts'
import { quoteProblem, tooManyOpen } from './fee-problems.ts'

/** What a guaranteed fee is made of and kept in. */
export type WithdrawalFees = {
  readonly basis: () => FeeBasis
  readonly quotes: FeeQuoteStore
  readonly clock: Clock
  readonly policy: AddressPolicy
  /** How many quotes a client may hold open: each is an option that the house gives away. */
  readonly openMax: number
}

/**
 * Validate, quote, store, answer. The quote is pure and synchronous; the one await is for the disk, because a fee that
 * was answered must be honoured after a power cut too.
 */
export async function handleQuote(
  operation: QuoteOperation,
  request: Request,
  principal: Principal,
  fees: WithdrawalFees,
): Promise<Answer> {
  const wanted = readWanted(readBody(operation.body, request.body))
  // Whole seconds, so that what is stored is what is answered.
  const now = (fees.clock() / 1_000_000n) * 1_000_000n
  const quoted = quoteFee(fees.basis(), wanted, now, fees.policy)
  if (!quoted.ok) throw quoteProblem(quoted, wanted)
  request.trace.fee = { asset: wanted.asset, network: wanted.network, ...quoted.origin }
  const quote: NewFeeQuote = {
    id: randomUUIDv7(),
    clientId: principal.clientId,
    asset: wanted.asset,
    network: wanted.network,
    address: wanted.address,
    canonicalAddress: spellingOf(wanted.network, wanted.address, quoted.addressKind),
    amount: quoted.amount,
    fee: quoted.fee,
    total: quoted.total,
    createdAt: now,
    expiresAt: now + BigInt(quoted.ttlSeconds) * 1_000_000n,
  }
  const issued = await fees.quotes.customers.issue(principal.tenant, quote, fees.openMax)
  if (issued.outcome === 'too-many-open') throw tooManyOpen(fees.openMax, issued.nextExpiryAt, now)
  return jsonAnswer(bodyOf(quote), { 'cache-control': 'no-store' })
}

type Wanted = {
  readonly asset: string
  readonly network: CryptoNetwork
  readonly address: string
  readonly figure: { readonly name: 'amount' | 'total'; readonly text: string }
}

/** The body's declaration has seen to it that every member is there. */
function readWanted(input: BodyInput): Wanted {
  const network = input.get('crypto_network')
  if (!isCryptoNetwork(network)) throw new TypeError('a network passed validation and is none')
  const amount = input.get('amount')
  return {
    asset: input.get('asset') ?? '',
    network,
    address: input.get('destination_address') ?? '',
    figure:
      amount === undefined
        ? { name: 'total', text: input.get('total') ?? '' }
        : { name: 'amount', text: amount },
  }
}

/** Contract, section 2.11. */
const bodyOf = (quote: NewFeeQuote) => ({
  id: quote.id,
  fee: quote.fee,
  asset: quote.asset,
  expires_at: printInstant(quote.expiresAt),
  destination_address: quote.address,
  crypto_network: quote.network,
  amount: quote.amount,
  total: quote.total,
})
