import { setTimeout as passing, setImmediate } from 'node:timers/promises'

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

/** The system's time in milliseconds, for what a test compares with the time of another program. */
export const systemMs = (): number => Date.now()

/** For times of the system that differ by what a busy machine needs. */
export const hourMs = 3_600_000

/** A deadline that no test meets, on the clock of durations. */
export const inAnHour = (): number => performance.now() + hourMs

/** A turn of the event loop, in which all that is due runs. */
export const turn = (): Promise<void> => setImmediate()

/** Keeps the event loop from turning, as other work of the process does. */
export function holdLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
