import { systemTime } from './time.ts'

export type Repeater = {
  /** Starts a run now, or after the current one; resolves when that run has ended. */
  runSoon(): Promise<void>
  /** Starts no further run. The current one goes on; callers of `runSoon` are released. */
  stop(): void
}

/** Repeats a task that never rejects and returns the delay until its next run. One at a time. */
export function repeat(task: () => Promise<number>, firstDelayMs: number): Repeater {
  let isStopped = false
  let isRunning = false
  let requested = undefined as PromiseWithResolvers<void> | undefined
  let cancel = systemTime.after(firstDelayMs, () => void run())
  const run = async () => {
    cancel()
    isRunning = true
    const served = requested
    requested = undefined
    const delayMs = await task()
    isRunning = false
    served?.resolve()
    if (isStopped) return
    if (requested === undefined) cancel = systemTime.after(delayMs, () => void run())
    else void run()
  }
  return {
    runSoon: async () => {
      if (isStopped) return
      requested ??= Promise.withResolvers()
      const { promise } = requested
      if (!isRunning) void run()
      await promise
    },
    stop: () => {
      isStopped = true
      cancel()
      requested?.resolve()
    },
  }
}

/** Runs a task at once; calls during the pause that follows share one run at its end. */
export function throttle(task: () => void, pauseMs: number): { run(): void; stop(): void } {
  let isPaused = false
  let isRequested = false
  let cancel = () => {}
  const run = () => {
    if (isPaused) {
      isRequested = true
      return
    }
    isPaused = true
    isRequested = false
    cancel = systemTime.after(pauseMs, () => {
      isPaused = false
      if (isRequested) run()
    })
    task()
  }
  const stop = () => {
    isPaused = true
    cancel()
  }
  return { run, stop }
}
