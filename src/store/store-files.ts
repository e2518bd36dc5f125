/** The database files of the embedded store, for backup and restore. */
export type StoreFiles = {
  /** The first database, which names the store in messages. */
  readonly path: string
  /** The names of the databases in a backup. The first is that of `path`. */
  readonly names: readonly string[]
  /** Whether there is a store, complete or not. */
  exist(): boolean
  /** Copies the store, as it is at one moment, to a folder. Returns the faults of the copies. */
  copyTo(folder: string): Promise<readonly string[]>
  /** Moves the databases of a folder to the store. False if another process uses the store. */
  replaceFrom(folder: string): boolean
}
