/** The one file of the client that names the clock and the timers of the runtime. */

/** Milliseconds since 1970, which a correction of the machine's clock moves. */
export const wallMs = (): number => Date.now()

/** Milliseconds since some moment; they never go back. */
export const elapsedMs = (): number => performance.now()

/** Runs a task once. The returned function cancels it. */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
