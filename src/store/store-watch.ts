/** Whether the files of the embedded store are still those that this process has opened. */
export type StoreWatch = {
  /** Throws a StoreUnavailable if the last look found other files, or none. Costs nothing. */
  requireIntact(): void
  /** The same after a look now, for what must not be acknowledged otherwise. */
  confirmIntact(): void
  /** Looks now. Throws a StoreUnavailable with every reason why the store cannot be relied on. */
  requireReady(): void
}
