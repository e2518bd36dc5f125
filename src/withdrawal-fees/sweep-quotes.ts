import type { Clock } from '../platform/clock.ts'
import { limits } from '../platform/limits.ts'
import type { Logger } from '../platform/log.ts'
import { repeat, type Schedule } from '../platform/schedule.ts'
import type { FeeQuoteStore } from '../store/fee-quotes.ts'

type SweepDeps = {
  readonly quotes: FeeQuoteStore
  readonly clock: Clock
  readonly log: Logger
  readonly schedule?: Schedule
}

/**
 * Deletes quotes past their retention, for as long as the service runs. Between two full batches it
 * pauses, so that requests are served. Returns the function that stops it.
 */
export function startQuoteSweep({ quotes, clock, log, schedule }: SweepDeps): () => void {
  const { quoteKeptDays, quoteSweepRows, quoteSweepRestMs, quoteSweepIdleMs } = limits
  const sweep = async () => {
    let deleted = 0
    try {
      const createdBefore = clock() - BigInt(quoteKeptDays) * 86_400_000_000n
      deleted = await quotes.operator.sweep(createdBefore, quoteSweepRows)
      if (deleted > 0) log.debug({ deleted }, 'deleted old fee quotes')
    } catch (error) {
      log.warn({ err: error }, 'old fee quotes cannot be deleted')
    }
    return deleted === quoteSweepRows ? quoteSweepRestMs : quoteSweepIdleMs
  }
  return repeat(sweep, quoteSweepRestMs, schedule).stop
}
