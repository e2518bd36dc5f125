/** Opens at the first use, whose arguments count, and closes only what was opened. */
export function openOnce<S extends { close(): Promise<void> }, A extends readonly unknown[] = []>(
  open: (...given: A) => S,
) {
  let opened: S | undefined
  return {
    open: (...given: A): S => {
      opened ??= open(...given)
      return opened
    },
    close: async () => {
      await opened?.close()
    },
  }
}
