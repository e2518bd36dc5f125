import { deadlineOf, systemTime, type Time } from '../../packages/base/src/time.ts'
import { systemTime as clientTime } from '../../sdk/src/system-time.ts'
import { turn } from './until.ts'

/** Time that passes only when a test says so. Its timers run in the order of their times. */
export type VirtualTime = Time & {
  /** Lets time pass. What is due runs, and what that begins runs too if it is due by then. */
  advance(ms: number): Promise<void>
  /** Lets time pass while the caller works, so that no timer runs. */
  pass(ms: number): void
  /** Moves the wall clock alone, as a correction of the machine's clock does. */
  jump(micros: bigint): void
  /** How many timers wait. The jobs of a service that runs beside the test count too. */
  waiting(): number
  /** Lets another time run what still waits, after the rest of its time. */
  handTo(other: Time): void
}

/**
 * Puts virtual time in the place of the machine's, for the program and for the client of `sdk/`,
 * until it is disposed of: `using time = takeTime()`. Timers that were begun before go on in real
 * time. Real input and output goes on, so a test awaits its condition and then lets time pass. What
 * still waits at the end goes on in real time, and durations that were measured go on from where
 * they are.
 */
export function takeTime(): VirtualTime & Disposable {
  const real = { ...systemTime }
  const realOfClient = { ...clientTime }
  // Whole, because sums of fractions may miss a limit by a rounding.
  const begunMs = Math.ceil(real.elapsedMs())
  const time = openVirtualTime(real.now(), begunMs)
  const { now, elapsedMs, after, every, pause, deadline } = time
  Object.assign(systemTime, { now, elapsedMs, after, every, pause, deadline })
  Object.assign(clientTime, { wallMs: () => Number(now() / 1000n), elapsedMs, after })
  return {
    ...time,
    [Symbol.dispose]: () => {
      const aheadMs = Math.max(0, time.elapsedMs() - real.elapsedMs())
      const onward = { elapsedMs: () => real.elapsedMs() + aheadMs }
      Object.assign(systemTime, real, onward)
      Object.assign(clientTime, realOfClient, onward)
      time.handTo(real)
    },
  }
}

/** Lets time pass for durations alone: timers that were begun before go on in real time. */
export function passTime(ms: number): void {
  using time = takeTime()
  time.pass(ms)
}

type Timer = {
  at: number
  readonly everyMs: number | undefined
  readonly run: () => void
  /** Set once another time runs it. */
  cancel?: () => void
}

export function openVirtualTime(wall = 1_700_000_000_000_000n, beginMs = 0): VirtualTime {
  let elapsedMs = beginMs
  let jumped = 0n
  const timers = new Set<Timer>()
  const start = (ms: number, run: () => void, everyMs?: number) => {
    const timer: Timer = { at: elapsedMs + Math.max(0, ms), everyMs, run }
    timers.add(timer)
    return () => {
      timers.delete(timer)
      timer.cancel?.()
    }
  }
  const after: Time['after'] = (ms, run) => start(ms, run)
  const nextDue = (until: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0]
  return {
    now: () => wall + BigInt(Math.round((elapsedMs - beginMs) * 1000)) + jumped,
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
      // What the test has just begun gets as far as its first wait.
      await turn()
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
    pass: (ms) => {
      elapsedMs += ms
    },
    jump: (micros) => {
      jumped += micros
    },
    waiting: () => timers.size,
    handTo: (other) => {
      for (const timer of timers) {
        const { everyMs, run } = timer
        timer.cancel =
          everyMs === undefined ? other.after(timer.at - elapsedMs, run) : other.every(everyMs, run)
      }
      timers.clear()
    },
  }
}
