/**
 * Polls until a condition holds and returns the elapsed milliseconds.
 * Throws with the promise when the time is over.
 */
export async function untilHolds(
  promised: string,
  holds: () => boolean | Promise<boolean>,
  withinMs: number,
): Promise<number> {
  const startedAt = performance.now()
  while (!(await holds())) {
    if (performance.now() - startedAt > withinMs) {
      throw new Error(`after ${withinMs} ms it still does not hold that ${promised}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return performance.now() - startedAt
}

/** As `untilHolds`, where the calling line names the condition. */
export const until = (isSo: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<number> =>
  untilHolds('it is so', isSo, withinMs)
