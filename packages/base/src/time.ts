import { setTimeout as resolveAfter, setImmediate } from 'node:timers/promises'

/**
 * The only way to know time or to wait for it, injected so that tests need not wait. No other file
 * names the timers of the system. Durations and deadlines are in milliseconds of `elapsedMs`, which
 * a jump of the wall clock does not change.
 */
export type Time = {
  /** The wall clock, in microseconds since 1970-01-01T00:00:00Z. A sandbox moves it. */
  now(): bigint
  /** Milliseconds since some moment, with a fraction; they never go back. */
  elapsedMs(): number
  /** Runs a task once. It keeps no process alive. The returned function cancels it. */
  after(ms: number, run: () => void): () => void
  /** Runs a task again and again. It keeps no process alive. The returned function ends that. */
  every(ms: number, run: () => void): () => void
  /** Waits, and keeps the process alive meanwhile. Rejects with the reason of an aborted signal. */
  pause(ms: number, signal?: AbortSignal): Promise<void>
  /** A signal that is aborted after a time, or with its parent. Its timer ends with the work. */
  deadline(ms: number, parent?: AbortSignal): Deadline
}

/** Its disposal ends the timer. The signal is not aborted any more then, unless by its parent. */
export type Deadline = Disposable & {
  /** Aborted with a `TimeoutError` once the time is over. */
  readonly signal: AbortSignal
}

/** An instant in microseconds as the runtime's date, to its millisecond. */
export const dateOf = (micros: bigint): Date => new Date(Number(micros / 1000n))

const after: Time['after'] = (ms, run) => {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

export const systemTime: Time = {
  now: () => BigInt(Date.now()) * 1000n,
  elapsedMs: () => performance.now(),
  after,
  every: (ms, run) => {
    const timer = setInterval(run, ms).unref()
    return () => clearInterval(timer)
  },
  pause: async (ms, signal) => {
    try {
      await resolveAfter(ms, undefined, signal && { signal })
    } catch (error) {
      throw signal?.aborted ? signal.reason : error
    }
  },
  deadline: (ms, parent) => deadlineOf(after, ms, parent),
}

/** The deadline of any time, made of its `after`. */
export function deadlineOf(after: Time['after'], ms: number, parent?: AbortSignal): Deadline {
  const over = new AbortController()
  const end = after(ms, () => {
    over.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  })
  const signal = parent === undefined ? over.signal : AbortSignal.any([parent, over.signal])
  return { signal, [Symbol.dispose]: end }
}

/** A turn of the event loop, in which other work of the process runs. */
export const turn = (): Promise<void> => setImmediate()
