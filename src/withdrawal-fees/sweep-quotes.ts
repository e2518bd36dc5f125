import { limits } from '../platform/limits.ts'
import type { Logger } from '../platform/log.ts'
import { repeat, type Schedule } from '../platform/schedule.ts'
import type { FeeQuoteStore } from '../store/fee-quotes.ts'
import { printInstant } from '../values/instant.ts'

type SweepDeps = {
  readonly quotes: FeeQuoteStore
  readonly log: Logger
  readonly schedule?: Schedule
}

/**
 * Deletes quotes past their retention, for as long as the service runs. Between two full batches it
 * pauses, so that requests are served. Returns the function that stops it.
 */
export function startQuoteSweep({ quotes, log, schedule }: SweepDeps): () => void {
  const { quoteSweepRows, quoteSweepRestMs, quoteSweepIdleMs } = limits
  let deletedInRun = 0
  let refusals = 0
  let isStopped = false
  const endRun = () => {
    if (deletedInRun > 0) log.info({ deleted: deletedInRun }, 'deleted old fee quotes')
    deletedInRun = 0
  }
  const sweep = async () => {
    try {
      const swept = await quotes.operator.sweep(quoteSweepRows)
      if (swept.outcome === 'swept') {
        refusals = 0
        deletedInRun += swept.deleted
        if (swept.deleted === quoteSweepRows) return quoteSweepRestMs
      } else {
        if (refusals % limits.quoteSweepRefusalsPerWarning === 0) warnOfJump(log, swept)
        refusals += 1
      }
    } catch (error) {
      if (!isStopped) log.warn({ err: error }, 'old fee quotes cannot be deleted')
    }
    endRun()
    return quoteSweepIdleMs
  }
  const { stop } = repeat(sweep, quoteSweepRestMs, schedule)
  return () => {
    isStopped = true
    stop()
    endRun()
  }
}

const warnOfJump = (log: Logger, times: { readonly lastRunAt: bigint; readonly at: bigint }) =>
  log.warn(
    { storeTime: printInstant(times.at), lastRunAt: printInstant(times.lastRunAt) },
    `the clock of the store has jumped, or the store was not in use for more than a day, so no old fee quote is deleted; set the clock right, or wait ${limits.quoteSweepSteadyDays} days if it is right`,
  )
