import type { Background, JobName } from './background.ts'
import { limitsOf } from './declare-limits.ts'
import { baseLimits } from './limits.ts'
import type { Repeater } from './schedule.ts'
import { systemTime } from './time.ts'

const limits = limitsOf({
  /** The least pause between two steps, and its multiple of the time of a step: 3 % of a core. */
  walkRestMs: 20,
  walkRestTimes: 32,
  /** Pause after a step that failed, such as one that found a whole table locked. */
  walkFailedRestMs: 60_000,
})

type Walk<Found> = {
  /** What is read one after the other, a bounded step at a time. */
  readonly parts: () => readonly (() => AsyncIterable<Found>)[]
  readonly take: (found: Found) => void
  readonly endRound?: () => void
  /** Reports the first failure since a round without one. */
  readonly failed: (error: unknown) => void
}

/**
 * Reads the whole store in the background, round after round. A part that fails is left for this
 * round. It never takes more of a core than leaves requests their rate.
 */
export function startWalk<Found>(
  background: Background,
  name: JobName,
  { parts, take, endRound, failed }: Walk<Found>,
): Repeater {
  let left: (() => AsyncIterable<Found>)[] | undefined
  let part: AsyncIterator<Found> | undefined
  let [isStopped, isTold, hasFailed] = [false, false, false]
  /** True at the end of a round. */
  const step = async (): Promise<boolean> => {
    left ??= [...parts()]
    part ??= left.shift()?.()[Symbol.asyncIterator]()
    if (part === undefined) {
      if (!hasFailed) isTold = false
      ;[left, hasFailed] = [undefined, false]
      endRound?.()
      return true
    }
    const { done, value } = await part.next()
    if (done === true) part = undefined
    else take(value)
    return false
  }
  const run = async () => {
    const startedAt = systemTime.elapsedMs()
    try {
      const isRoundOver = await step()
      const restMs = isRoundOver ? baseLimits.walkRoundRestMs : limits.walkRestMs
      const took = systemTime.elapsedMs() - startedAt
      return { pauseMs: Math.max(restMs, limits.walkRestTimes * took) }
    } catch (error) {
      part = undefined
      hasFailed = true
      if (!isStopped && !isTold) failed(error)
      isTold = true
      return { pauseMs: limits.walkFailedRestMs, isFailed: true }
    }
  }
  const { runSoon, stop } = background.start(name, run, { firstMs: baseLimits.walkFirstMs })
  return {
    runSoon,
    stop: () => {
      isStopped = true
      stop()
      void part?.return?.()
    },
  }
}
