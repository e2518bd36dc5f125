/**
 * Passes on what is read until a signal is aborted, and then throws its reason, even while the next
 * value is awaited. The source itself goes on.
 */
export async function* untilAborted<T>(
  values: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncIterable<T> {
  const iterator = values[Symbol.asyncIterator]()
  let fail: (reason: unknown) => void = () => {}
  const onAbort = () => fail(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    for (;;) {
      signal.throwIfAborted()
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        fail = reject
        iterator.next().then(resolve, reject)
      })
      if (next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    // A read that never ends would hold up its return, so nobody waits for that.
    iterator.return?.().catch(() => {})
  }
}
