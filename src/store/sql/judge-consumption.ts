import { canonicalAddress } from '../../fees/addresses/canonical-address.ts'
import { parseDecimal } from '../../values/decimal.ts'
import type { BoundMember, Consumed, ConsumeRequest, FeeQuote } from '../fee-quotes.ts'

/** What may be done with a stored quote: nothing, as the outcome says, or consume it now. */
export type Judgement = Consumed | { readonly outcome: 'free' }

/**
 * Whether a withdrawal may have a quote. Another customer's is as unknown as none. What does not match is told
 * before what has been taken, so that a wrong request never looks like a race; a withdrawal that has the fee keeps
 * it, however late it asks again.
 */
export function judgeConsumption(quote: FeeQuote | undefined, request: ConsumeRequest): Judgement {
  if (quote === undefined || quote.customerId !== request.customerId) return { outcome: 'unknown' }
  const members = mismatchesOf(quote, request)
  if (members.length > 0) return { outcome: 'mismatched', quote, members }
  const { consumption } = quote
  if (consumption !== undefined) {
    return consumption.withdrawal === request.withdrawal
      ? { outcome: 'consumed', quote, again: true }
      : { outcome: 'taken', quote, consumption }
  }
  return request.at < quote.expiresAt ? { outcome: 'free' } : { outcome: 'expired', quote }
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

/** Policy was applied when the fee was quoted; whatever the stored spelling stands for must still be recognised. */
const isSameAddress = ({ network, canonicalAddress: known }: FeeQuote, given: string): boolean =>
  canonicalAddress(network, given, { testnets: true }) === known

/** More decimals than any asset has: `1.50` and `1.5` are one amount, whatever the asset. */
const DECIMALS = 36

function isSameFigure(one: string, other: string): boolean {
  const [a, b] = [parseDecimal(one, DECIMALS), parseDecimal(other, DECIMALS)]
  return a.ok && b.ok && a.units === b.units
}
