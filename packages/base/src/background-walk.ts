import { performance } from 'node:perf_hooks'
import type { Background, JobName } from './background.ts'
import { limitsOf } from './declare-limits.ts'
import { baseLimits } from './limits.ts'
import { systemTime } from './time.ts'

const limits = limitsOf({
  /** Rows of one step, in which no request is served: two milliseconds. */
  walkRows: 8,
  /** After a longer step, as from a slow disk, the next ones read less. */
  walkStepMsMax: 5,
  /** The least pause between two steps. */
  walkRestMs: 20,
  /** Its multiple of the time of a step: a tenth of a core, and 1.5 % while requests come. */
  walkRestTimes: 9,
  walkBusyRestTimes: 64,
  /** Pause after a step that failed, such as one that found a whole table locked. */
  walkFailedRestMs: 60_000,
})

type Walk<Found> = {
  /** What is read one after the other, a step at a time, of at most so many rows. */
  readonly parts: (rowsMax: () => number) => readonly (() => AsyncIterable<Found>)[]
  readonly take: (found: Found) => void
  /** `isWhole`: no part has failed. */
  readonly endRound?: (isWhole: boolean) => void
  /** Reports the first failure since a round without one. */
  readonly failed: (error: unknown) => void
  /** Whether the process has had much else to do since the last step. */
  readonly isBusy?: () => boolean
}

/** The part of the time in which the event loop of a process with few requests works. */
const BUSY = 0.2

/**
 * Reads the whole store in the background, round after round. A part that fails is left for this
 * round. It yields to requests, so that they keep their rate. Returns what ends it.
 */
export function startWalk<Found>(
  background: Background,
  name: JobName,
  { parts, take, endRound, failed, ...given }: Walk<Found>,
): () => Promise<void> {
  const loop = watchLoop()
  const { isBusy = loop.isBusy } = given
  let left: (() => AsyncIterable<Found>)[] | undefined
  let part: AsyncIterator<Found> | undefined
  let [isStopped, isTold, hasFailed] = [false, false, false]
  let rows = limits.walkRows
  /** True at the end of a round. */
  const step = async (): Promise<boolean> => {
    left ??= [...parts(() => rows)]
    part ??= left.shift()?.()[Symbol.asyncIterator]()
    if (part === undefined) {
      if (!hasFailed) isTold = false
      endRound?.(!hasFailed)
      ;[left, hasFailed] = [undefined, false]
      return true
    }
    const { done, value } = await part.next()
    if (done === true) part = undefined
    else take(value)
    return false
  }
  const run = async () => {
    const times = isBusy() ? limits.walkBusyRestTimes : limits.walkRestTimes
    const startedAt = systemTime.elapsedMs()
    try {
      const isRoundOver = await step()
      const restMs = isRoundOver ? baseLimits.walkRoundRestMs : limits.walkRestMs
      const tookMs = systemTime.elapsedMs() - startedAt
      if (tookMs > limits.walkStepMsMax) rows = Math.max(1, rows >> 1)
      else rows = Math.min(limits.walkRows, rows + 1)
      return { pauseMs: Math.max(restMs, times * tookMs) }
    } catch (error) {
      part = undefined
      hasFailed = true
      if (!isStopped && !isTold) failed(error)
      isTold = true
      return { pauseMs: limits.walkFailedRestMs, isFailed: true }
    } finally {
      loop.begin()
    }
  }
  const { stop } = background.start(name, run, { firstMs: baseLimits.walkFirstMs })
  return async () => {
    isStopped = true
    stop()
    await part?.return?.()
  }
}

/** Whether the event loop has worked for much of the time since it began to count. */
function watchLoop() {
  let begun = performance.eventLoopUtilization()
  return {
    begin() {
      begun = performance.eventLoopUtilization()
    },
    isBusy: () => performance.eventLoopUtilization(begun).utilization > BUSY,
  }
}
