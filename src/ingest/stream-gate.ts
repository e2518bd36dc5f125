import { Problem } from '../contract/problem.ts'
import { limits } from '../platform/limits.ts'

/** Admits some streams at a time, because each takes a session, a file and the processor. */
export type StreamGate = <T>(work: () => Promise<T>) => Promise<T>

/** The others wait, and nothing is read of them, so their clients stop sending. */
export function openStreamGate(): StreamGate {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (waiting.length >= limits.streamsWaitingMax) {
      throw new Problem(503, 'as many streams as possible are being stored, try again shortly', {
        headers: { 'retry-after': '1' },
      })
    }
    if (running >= limits.streamsMax) await new Promise<void>((admit) => waiting.push(admit))
    else running += 1
    try {
      return await work()
    } finally {
      // A stream that waits takes the place of this one.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
