import { setTimeout as passing } from 'node:timers/promises'

/** A condition that a busy machine needs longer for is wrong, or the test is. */
const withinMsUsual = 60_000

/**
 * Waits until a condition holds. The pause between two looks grows, so that looking takes no
 * processor time from what is awaited. Throws with the promise when the time is over.
 */
export async function untilHolds(
  promised: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = withinMsUsual,
): Promise<void> {
  const endsAt = performance.now() + withinMs
  for (let pauseMs = 2; !(await holds()); pauseMs = Math.min(pauseMs * 1.5, 100)) {
    if (performance.now() > endsAt) {
      throw new Error(`after ${withinMs} ms it still does not hold that ${promised}`)
    }
    await passing(pauseMs)
  }
}

/** As `untilHolds`, where the calling line names the condition. */
export const until = (isSo: () => boolean | Promise<boolean>, withinMs?: number): Promise<void> =>
  untilHolds('it is so', isSo, withinMs)
