/** What a reader returns, or undefined if it throws: for texts that somebody else wrote. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
