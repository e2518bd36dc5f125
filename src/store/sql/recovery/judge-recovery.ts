import type { ConsumeRequest, FeeQuote } from '../../fee-quotes.ts'
import type { Recovery } from '../../recovery.ts'
import { type Judgement, judgeConsumption } from '../fee-quotes/judge-consumption.ts'

/**
 * Judges a consumption of a store that may be in recovery. A restored quote that looks open may
 * have been consumed after the backup. So it is refused, expired or not, until the operator has
 * reconciled the fees. A request with `consumedAt` records such a consumption.
 */
export function judgeInRecovery(
  quote: FeeQuote | undefined,
  request: ConsumeRequest,
  now: bigint,
  recovery: Recovery | undefined,
): Judgement {
  const { consumedAt } = request
  const judgement = judgeConsumption(quote, request, consumedAt ?? now)
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
