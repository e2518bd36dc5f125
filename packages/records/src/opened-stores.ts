import type { Background, Clock, Config, Logger, Metrics } from '@bursar/base'
import type { AuditDeps, AuditLog } from './audit.ts'
import type { CredentialStore } from './credentials.ts'
import type { FeeQuoteStore } from './fee-quotes.ts'
import type { RecordReads } from './record-reads.ts'
import type { Store } from './records.ts'
import type { SandboxState } from './sandbox-state.ts'
import type { CustomerKeySource } from './sealing/customer-keys.ts'
import type { Sealing } from './sealing/seals.ts'

/** The stores of one database, each opened at its first use. */
export type OpenedStores = {
  records(): Store
  credentials(): CredentialStore
  quotes(): FeeQuoteStore
  /** Who saw records in full, of every customer. For processes that serve the operator. */
  reads(): RecordReads
  /** The audit log of this process. Opened once, with the keys of the first call. */
  audit(key: AuditDeps['key']): AuditLog
  /** The steps of the schema that the store has, and when each was applied. */
  schemaSteps(): Promise<readonly AppliedAt[]>
  /** What the tests of a sandbox may do. Only the embedded store has it. */
  readonly sandbox: (() => SandboxState) | undefined
  /**
   * Declares that this process serves the store under an issuer. Resolves with the issuer of
   * another live process, if it differs.
   */
  claimIssuer(issuer: string): Promise<string | undefined>
  /** Whether this process may serve the operator: ingest, and the sweep of old quotes. */
  readonly servesOperator: boolean
  /** Only a server on the embedded store watches its files. */
  readonly watch: StoreWatch | undefined
  /** Throws a StoreUnavailable if the embedded store is not at its path any more. */
  confirmIntact(): void
  close(): Promise<void>
}

/** A step of the schema, and when it was applied: microseconds since 1970, UTC. */
export type AppliedAt = { readonly name: string; readonly at: bigint }

export type StoreDeps = {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  /** Runs the jobs of the stores. A command needs not know when they ran. */
  readonly background?: Background
  /** The master key file, where it is not beside the store. */
  readonly keyFile?: string
  /** Gives the keys of customers to a process that has no master key. */
  readonly customerKeys?: CustomerKeySource
  readonly metrics?: Metrics
}

/** What opens a store whose bodies are sealed, or are to be. */
export type SealedDeps = StoreDeps & { readonly sealing: Sealing }

/** Whether the files of the embedded store are those that this process has opened, and intact. */
export type StoreWatch = {
  /**
   * Throws a StoreUnavailable if the last look found other files, or none, or the last check found
   * damage. Costs nothing.
   */
  requireIntact(): void
  /** Has the files checked if the error of a request says that the database is damaged. */
  noteFailure(error: unknown): void
  /**
   * The same after a look now, for what must not be acknowledged otherwise. The requests that one
   * commit ends share a look.
   */
  confirmIntact(): void
  /** Looks now. Rejects with a StoreUnavailable that has every reason against relying on it. */
  requireReady(): Promise<void>
}

/** The database files of the embedded store, for backup and restore. */
export type StoreFiles = {
  /** The first database, which names the store in messages. */
  readonly path: string
  /** Where the master key is, if it is not configured. */
  readonly keyFile: string
  /** The names of the databases in a backup. The first is that of `path`. */
  readonly names: readonly string[]
  /** Whether there is a store, complete or not. */
  exist(): boolean
  /** Notes that a backup was made now. */
  noteBackup(): void
  /** When the last one was made, in microseconds since 1970, UTC. */
  lastBackupAt(): bigint | undefined
  /** Copies the store, as it is at one moment, to a folder. Returns the faults of the copies. */
  copyTo(folder: string): Promise<readonly string[]>
  /**
   * Adds the lines of the audit log and the list of erasures to those of a store in a folder, which
   * will replace this one. Returns how many were added.
   */
  carryLists(folder: string): { readonly auditLines: number; readonly erasures: number }
  /** Moves the databases of a folder to the store. False if another process uses the store. */
  replaceFrom(folder: string): boolean
}
