import { type Background, baseLimits, type Logger, limitsOf } from '@bursar/base'
import type { Resealing } from './reseal.ts'

const limits = limitsOf({
  /** The pause between two steps that seal bodies again. */
  resealRestMs: 20,
})

type Deps = {
  readonly resealing: Resealing
  readonly log: Logger
  readonly background: Background
}

/** Seals bodies under older keys again while the service runs. Returns what stops it. */
export function startResealing({ resealing, log, background }: Deps): () => void {
  let isTold = false
  const job = background.start('reseal-bodies', async () => {
    try {
      const step = await resealing.next()
      isTold = false
      if (step?.end !== undefined && step.end.changed + step.end.failed > 0) {
        const { customers, bodies } = await resealing.left()
        const left = { customersLeft: customers, bodiesLeft: bodies }
        log.info(
          { ...step.end, ...left },
          'the full records of a customer are sealed with its current key now',
        )
      }
      return { pauseMs: step === undefined ? baseLimits.resealIdleMs : limits.resealRestMs }
    } catch (error) {
      if (!isTold) log.warn({ err: error }, 'full records cannot be sealed again')
      isTold = true
      return { pauseMs: baseLimits.resealIdleMs, isFailed: true }
    }
  })
  return job.stop
}
