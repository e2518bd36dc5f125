/** Timers take no longer time; they would end at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1

/**
 * The only way of the client to know time or to wait for it. No other file names the clock and the
 * timers of the runtime.
 */
export const systemTime = {
  /** Milliseconds since 1970, which a correction of the machine's clock moves. */
  wallMs: (): number => Date.now(),
  /** Milliseconds since some moment; they never go back. */
  elapsedMs: (): number => performance.now(),
  /** Runs a task once. The returned function cancels it. */
  after(ms: number, run: () => void): () => void {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
