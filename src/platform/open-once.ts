/** Opens at the first use, and closes only what was opened. */
export function openOnce<S extends { close(): Promise<void> }>(open: () => S) {
  let opened: S | undefined
  return {
    open: (): S => {
      opened ??= open()
      return opened
    },
    close: async () => {
      await opened?.close()
    },
  }
}
