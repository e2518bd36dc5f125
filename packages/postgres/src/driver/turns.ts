/** Runs one work at a time, for a session that takes one statement or transaction at a time. */
export function openTurns() {
  let previous: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = previous.then(work, work)
    previous = result.catch(() => {})
    return result
  }
}
