import type { Check, Keyring } from '@bursar/base'
import type { Roles } from '@bursar/postgres'
import type { AuditLog, AuditReader, StoredRows, Stores } from '@bursar/records'

/** What an engine does with the store of a configuration. */
export type StoreEngine = {
  /** Opens the stores of a server; a command that is `beside` a server only looks. */
  openService(as: 'server' | 'beside'): Promise<Stores>
  /** Opens the stores of every other command, which sees all customers. */
  openOperator(): Promise<Stores>
  /** Opens the stores of a process that imports for a server, with the role of the operator. */
  openWriter(): Promise<Stores>
  /** Makes the store where there is nothing of it, if the engine keeps it in files. */
  create(): Promise<void>
  /**
   * Brings the schema up to date and returns the names of the applied steps. On PostgreSQL this,
   * and all that follows, needs the URL of the owner, and grants the roles their rights.
   */
  migrate(migration: Migration): Promise<readonly string[]>
  /** Checks the schema and what holds the tables. Passes the stored records to `checkRecords`. */
  check<T>(checkRecords: CheckRecords<T>): Promise<CheckedStore<T>>
  /**
   * Writes files or tables anew, so that no deleted byte is left in them. A server on the embedded
   * store cannot write meanwhile, so it must be allowed with `isOnline`. Returns the bytes before
   * and after.
   */
  compact(options: { readonly isOnline: boolean }): Promise<Compacted>
  /** What `doctor` checks of a store before anything opens it. Changes nothing. */
  checks(): Promise<readonly Check[]>
  /** Opens the audit log alone. */
  withAudit<T>(work: (archive: AuditArchive) => Promise<T>): Promise<T>
}

export type Migration = Roles & {
  /** `a whole store` is created only where both databases of an embedded store are missing. */
  readonly creates: 'nothing' | 'a whole store' | 'what is missing'
  /** Whether to throw a StoreUnavailable while a server uses an embedded store. */
  readonly refusesServed: boolean
  /** Whether to replace what differs from the objects and rights that `migrate` makes. */
  readonly replaces: boolean
  /** Runs the work, and writes it to the audit log, if the store has one before. */
  readonly recorded: (log: AuditLog | undefined, work: Migrating) => ReturnType<Migrating>
}

type Migrating = () => Promise<readonly string[]>

export type CheckRecords<T> = (rows: StoredRows) => Promise<T>
export type CheckedStore<T> = { readonly faults: readonly string[]; readonly records: T }
export type Compacted = { readonly before: number; readonly after: number }

/** The audit log for the owner of the store, or its auditor. */
export type AuditArchive = {
  readonly reader: AuditReader
  /** The keys of the store. Makes none. */
  keyring(): Promise<Keyring>
  /** A chain of the owner. */
  openLog(keyring: Keyring): AuditLog
}
