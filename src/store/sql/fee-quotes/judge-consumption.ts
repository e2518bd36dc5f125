import { canonicalAddress } from '../../../fees/addresses/canonical-address.ts'
import { parseDecimal } from '../../../values/decimal.ts'
import type { BoundMember, Consumed, ConsumeRequest, FeeQuote } from '../../fee-quotes.ts'

/** `free`: the request may consume the quote. Any other outcome is the answer. */
export type Judgement = Consumed | { readonly outcome: 'free' }

/**
 * Judges whether a withdrawal may consume a quote at a time of the store's clock. A mismatch is
 * reported before a consumption, so that a wrong request never looks like a race. Expiry does not
 * change a repeated answer.
 */
export function judgeConsumption(
  quote: FeeQuote | undefined,
  request: ConsumeRequest,
  now: bigint,
): Judgement {
  if (quote === undefined || quote.customerId !== request.customerId) return { outcome: 'unknown' }
  const members = mismatchesOf(quote, request)
  if (members.length > 0) return { outcome: 'mismatched', quote, members }
  const { consumption } = quote
  if (consumption !== undefined) {
    return consumption.withdrawal === request.withdrawal
      ? { outcome: 'consumed', quote, again: true }
      : { outcome: 'taken', quote, consumption }
  }
  return now < quote.expiresAt ? { outcome: 'free' } : { outcome: 'expired', quote }
}

function mismatchesOf(quote: FeeQuote, request: ConsumeRequest): BoundMember[] {
  const isSame: Readonly<Record<BoundMember, boolean>> = {
    asset: quote.asset === request.asset,
    network: quote.network === request.network,
    address: isSameAddress(quote, request.address),
    amount: isSameFigure(quote.amount, request.amount),
  }
  return (['asset', 'network', 'address', 'amount'] as const).filter((member) => !isSame[member])
}

/** The address policy applied when the fee was quoted. Here every spelling is recognised. */
const isSameAddress = ({ network, canonicalAddress: known }: FeeQuote, given: string): boolean =>
  canonicalAddress(network, given, { testnets: true }) === known

/** More decimals than any asset has, so that `1.50` equals `1.5` for every asset. */
const DECIMALS = 36

function isSameFigure(one: string, other: string): boolean {
  const [a, b] = [parseDecimal(one, DECIMALS), parseDecimal(other, DECIMALS)]
  return a.ok && b.ok && a.units === b.units
}
