import { parseDecimal } from '@bursar/base'
import { canonicalAddress } from '@bursar/fees'
import type { Recovery } from '../credentials.ts'
import type { BoundMember, Consumed, ConsumeRequest, FeeQuote } from '../fee-quotes.ts'

/** `free`: the request may consume the quote. Any other outcome is the answer. */
type Judgement = Consumed | { readonly outcome: 'free' }

/**
 * Judges whether a withdrawal may consume a quote at a time of the store's clock. After a restore,
 * a quote that looks open may have been consumed since the backup. So it is refused, expired or
 * not, until the operator has reconciled the fees. A request with `consumedAt` records such a
 * consumption.
 */
export function judgeConsumption(
  quote: FeeQuote | undefined,
  request: ConsumeRequest,
  now: bigint,
  recovery: Recovery | undefined,
): Judgement {
  const { consumedAt } = request
  const judgement = judgeAt(quote, request, consumedAt ?? now)
  if (quote === undefined) return judgement
  if (judgement.outcome !== 'free' && judgement.outcome !== 'expired') return judgement
  const isRecovering = recovery !== undefined && recovery.reconciledAt === undefined
  const isUncertain = isRecovering && quote.createdAt < recovery.quotesBefore
  if (consumedAt === undefined) {
    return isUncertain
      ? { outcome: 'unreconciled', quote, restoredAt: recovery.restoredAt }
      : judgement
  }
  const isEarlier =
    isUncertain && quote.createdAt <= consumedAt && consumedAt <= recovery.restoredAt
  return isEarlier ? judgement : { outcome: 'not-restored', quote }
}

/**
 * A mismatch is reported before a consumption, so that a wrong request never looks like a race.
 * Expiry does not change a repeated answer.
 */
function judgeAt(quote: FeeQuote | undefined, request: ConsumeRequest, at: bigint): Judgement {
  if (quote === undefined || quote.customerId !== request.customerId) return { outcome: 'unknown' }
  if (quote.isErased) return { outcome: 'erased', quote }
  const members = mismatchesOf(quote, request)
  if (members.length > 0) return { outcome: 'mismatched', quote, members }
  const { consumption } = quote
  if (consumption !== undefined) {
    return consumption.withdrawal === request.withdrawal
      ? { outcome: 'consumed', quote, again: true }
      : { outcome: 'taken', quote, consumption }
  }
  return at < quote.expiresAt ? { outcome: 'free' } : { outcome: 'expired', quote }
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
