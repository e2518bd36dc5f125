import { systemTime } from './system-time.ts'

/**
 * The listeners of each signal, behind one listener of ours. Node 20 warns of a leak at the
 * eleventh listener, and programs share one signal among many calls.
 */
const listenersOf = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls the listener when the signal is aborted, at once if it is, until the result is called. */
function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {}
  if (signal.aborted) listener()
  const listeners = listenersOf.get(signal) ?? new Set()
  if (!listenersOf.has(signal)) {
    listenersOf.set(signal, listeners)
    const callAll = () => {
      for (const call of listeners) call()
    }
    signal.addEventListener('abort', callAll, { once: true })
  }
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * The promise's outcome, undefined if the time is over first, or the signal's reason if it is
 * aborted first.
 */
export function within<T>(
  promise: Promise<T>,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  let end = () => {}
  const ended = new Promise<undefined>((resolve, reject) => {
    const cancel = systemTime.after(ms, () => resolve(undefined))
    const stop = onAbort(signal, () => reject(signal?.reason))
    end = () => {
      cancel()
      stop()
    }
  })
  return Promise.race([ended, promise]).finally(end)
}

/** Resolves after the time, or rejects with the signal's reason as soon as it is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await within(new Promise<never>(() => {}), ms, signal)
}
