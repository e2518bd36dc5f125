import type { Clock } from '../platform/clock.ts'
import { limits } from '../platform/limits.ts'
import type { Logger } from '../platform/log.ts'
import type { FeeQuoteStore } from '../store/fee-quotes.ts'

/** Runs something later; gives what calls it off. Injected, so that tests need not wait. */
type Later = (delayMs: number, run: () => void) => () => void

const systemLater: Later = (delayMs, run) => {
  const timer = setTimeout(run, delayMs).unref()
  return () => clearTimeout(timer)
}

type SweepSources = {
  readonly quotes: FeeQuoteStore
  readonly clock: Clock
  readonly log: Logger
  readonly later?: Later
}

/**
 * Deletes quotes that are older than they need be kept, for as long as the service runs: a small
 * batch, a rest in which requests are answered, the next batch; and a look once a minute where
 * nothing is due. Answers what ends it.
 */
export function startQuoteSweep({ quotes, clock, log, later = systemLater }: SweepSources) {
  let cancel = () => {}
  let stopped = false
  const sweep = async () => {
    const { quoteKeptDays, quoteSweepRows, quoteSweepRestMs, quoteSweepIdleMs } = limits
    let swept = 0
    try {
      const madeBefore = clock() - BigInt(quoteKeptDays) * 86_400_000_000n
      swept = await quotes.operator.sweep(madeBefore, quoteSweepRows)
      if (swept > 0) log.debug({ swept }, 'old fee quotes')
    } catch (error) {
      log.warn({ err: error }, 'old fee quotes cannot be swept')
    }
    schedule(swept === quoteSweepRows ? quoteSweepRestMs : quoteSweepIdleMs)
  }
  const schedule = (delayMs: number) => {
    if (!stopped) cancel = later(delayMs, () => void sweep())
  }
  schedule(limits.quoteSweepRestMs)
  return () => {
    stopped = true
    cancel()
  }
}
