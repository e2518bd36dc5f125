import { limitsOf } from './declare-limits.ts'
import { systemTime } from './time.ts'

const limits = limitsOf({
  /** How long an import may hold the event loop of a server before requests have their turn. */
  timeSliceMs: 3,
})

/**
 * Shares the event loop between long works and requests: in each turn of the loop one work runs,
 * for one time slice.
 */
export type TimeSlices = {
  /** Undefined while the current slice lasts. Otherwise resolves when the next one begins. */
  next(): Promise<void> | undefined
}

/** A work calls this before each small step, and awaits what it returns. */
export type Pace = () => Promise<void> | undefined

export function openTimeSlices(): TimeSlices {
  let endsAt = Number.NEGATIVE_INFINITY
  let last = Promise.resolve()
  const begin = () =>
    new Promise<void>((resolve) => {
      setImmediate(() => {
        endsAt = systemTime.elapsedMs() + limits.timeSliceMs
        resolve()
      })
    })
  return {
    next: () => {
      if (systemTime.elapsedMs() < endsAt) return undefined
      last = last.then(begin)
      return last
    },
  }
}

/** The pace of one work, which ends with the signal's reason at its next step. */
export const paceOf =
  (slices: TimeSlices, signal: AbortSignal): Pace =>
  () => {
    signal.throwIfAborted()
    return slices.next()
  }
