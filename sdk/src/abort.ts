/**
 * The listeners of each signal, behind one listener of ours. Node 20 warns of a leak at the
 * eleventh listener, and programs share one signal among many calls.
 */
const listenersOf = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls the listener when the signal is aborted, at once if it is, until the result is called. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
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

/** The promise's outcome, or the signal's reason if it is aborted first. */
export async function abortable<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  let stop = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = onAbort(signal, () => reject(signal?.reason))
  })
  try {
    return await Promise.race([aborted, promise])
  } finally {
    stop()
  }
}
