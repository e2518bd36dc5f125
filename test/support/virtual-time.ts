import { deadlineOf, type Time } from '../../src/platform/time.ts'
import { turn } from './until.ts'

/** Time that passes only when a test says so. Its timers run in the order of their times. */
export type VirtualTime = Time & {
  /** Lets time pass. What is due runs, and what that begins runs too if it is due by then. */
  advance(ms: number): Promise<void>
  /** Moves the wall clock alone, as a correction of the machine's clock does. */
  jump(micros: bigint): void
  /** How many timers wait. */
  waiting(): number
}

type Timer = { at: number; readonly everyMs: number | undefined; readonly run: () => void }

export function openVirtualTime(wall = 1_700_000_000_000_000n): VirtualTime {
  let elapsedMs = 0
  let jumped = 0n
  const timers = new Set<Timer>()
  const start = (ms: number, run: () => void, everyMs?: number) => {
    const timer = { at: elapsedMs + Math.max(0, ms), everyMs, run }
    timers.add(timer)
    return () => void timers.delete(timer)
  }
  const after: Time['after'] = (ms, run) => start(ms, run)
  const nextDue = (until: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0]
  return {
    now: () => wall + BigInt(Math.round(elapsedMs * 1000)) + jumped,
    elapsedMs: () => elapsedMs,
    after,
    every: (ms, run) => start(ms, run, ms),
    pause: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const cancel = after(ms, resolve)
        signal?.addEventListener('abort', () => {
          cancel()
          reject(signal.reason)
        })
      }),
    deadline: (ms, parent) => deadlineOf(after, ms, parent),
    advance: async (ms) => {
      const until = elapsedMs + ms
      for (let due = nextDue(until); due !== undefined; due = nextDue(until)) {
        elapsedMs = due.at
        if (due.everyMs === undefined) timers.delete(due)
        else due.at += due.everyMs
        due.run()
        await turn()
      }
      elapsedMs = until
      await turn()
    },
    jump: (micros) => {
      jumped += micros
    },
    waiting: () => timers.size,
  }
}
