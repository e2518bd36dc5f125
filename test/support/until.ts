/**
 * Asks again and again until something holds, and no longer than the bound. Answers how many milliseconds it took; what was
 * promised stands in the failure.
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

/** The same where the line that waits says what is waited for. */
export const until = (isSo: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<number> =>
  untilHolds('it is so', isSo, withinMs)
