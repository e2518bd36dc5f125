import { type Background, type Logger, limits } from '@bursar/base'
import type { Resealing } from './reseal.ts'

type Deps = {
  readonly resealing: Resealing
  readonly log: Logger
  readonly background: Background
}

/** Brings stored bodies to their form while the service runs. Returns what stops it. */
export function startResealing({ resealing, log, background }: Deps): () => void {
  let isTold = false
  const job = background.start('reseal-bodies', async () => {
    try {
      const step = await resealing.next()
      isTold = false
      if (step?.end !== undefined && step.end.changed + step.end.failed > 0) {
        const { customers, bodies } = await resealing.left()
        const left = { customersLeft: customers, bodiesLeft: bodies }
        log.info({ ...step.end, ...left }, 'the full records of a customer have another form now')
      }
      return { pauseMs: step === undefined ? limits.resealIdleMs : limits.resealRestMs }
    } catch (error) {
      if (!isTold) log.warn({ err: error }, 'full records cannot be brought to another form')
      isTold = true
      return { pauseMs: limits.resealIdleMs, isFailed: true }
    }
  })
  return job.stop
}
