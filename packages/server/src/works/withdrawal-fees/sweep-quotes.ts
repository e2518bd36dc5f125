import { type Background, type Logger, limitsOf, printInstant } from '@bursar/base'
import { type FeeQuoteStore, recordsLimits } from '@bursar/records'

const limits = limitsOf({
  /** A batch takes a few milliseconds, and requests are served in the pause after it. */
  quoteSweepRows: 500,
  quoteSweepRestMs: 100,
  /** Refusals of a sweep from one warning to the next: an hour. */
  quoteSweepRefusalsPerWarning: 60,
})

type SweepDeps = {
  readonly quotes: FeeQuoteStore
  readonly log: Logger
  readonly background: Background
}

/**
 * Deletes quotes past their retention, for as long as the service runs. Between two full batches it
 * pauses, so that requests are served. Returns the function that stops it.
 */
export function startQuoteSweep({ quotes, log, background }: SweepDeps): () => void {
  const { quoteSweepRows, quoteSweepRestMs } = limits
  let deletedInRun = 0
  let refusals = 0
  let isStopped = false
  const endRun = () => {
    if (deletedInRun > 0) log.info({ deleted: deletedInRun }, 'deleted old fee quotes')
    deletedInRun = 0
  }
  const sweep = async () => {
    let isFailed = false
    try {
      const swept = await quotes.operator.sweep(quoteSweepRows)
      if (swept.outcome === 'swept') {
        refusals = 0
        deletedInRun += swept.deleted
        if (swept.deleted === quoteSweepRows) return { pauseMs: quoteSweepRestMs }
      } else {
        if (refusals % limits.quoteSweepRefusalsPerWarning === 0) warnOfJump(log, swept)
        refusals += 1
      }
    } catch (error) {
      isFailed = true
      if (!isStopped) log.warn({ err: error }, 'old fee quotes cannot be deleted')
    }
    endRun()
    return { isFailed }
  }
  const { stop } = background.start('sweep-fee-quotes', sweep, { firstMs: quoteSweepRestMs })
  return () => {
    isStopped = true
    stop()
    endRun()
  }
}

const warnOfJump = (log: Logger, times: { readonly lastRunAt: bigint; readonly at: bigint }) =>
  log.warn(
    { storeTime: printInstant(times.at), lastRunAt: printInstant(times.lastRunAt) },
    `the clock of the store has jumped, or the store was not in use for more than a day, so no old fee quote is deleted; set the clock right, or wait ${recordsLimits.quoteSweepSteadyDays} days if it is right`,
  )
