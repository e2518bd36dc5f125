import type { ImportState, RunningState, WaitCode } from '@bursar/contract'

/** A client of the operator, or the user of a command. */
export type Importer =
  | { readonly clientId: string }
  | {
      readonly user: string
      readonly sudoUser: string | undefined
      /** Without its folder; of several files, the first. */
      readonly file: string
      readonly files: number
    }

export type NewImport = {
  readonly kind: string
  readonly importer: Importer
  /** The one customer whose records it may store. Undefined for every customer. */
  readonly boundTo: string | undefined
  readonly isDryRun: boolean
}

/** The counts of its report, for an import that was stored or checked. */
export type ImportCounts = {
  readonly added: number
  readonly changed: number
  readonly unchanged: number
  readonly rejected: number
  readonly withdrawn: number
}

export type ImportOutcome =
  | { readonly state: 'stored' | 'checked'; readonly counts: ImportCounts }
  /** `reason` quotes nothing of a record. */
  | { readonly state: 'refused' | 'failed' | 'cancelled'; readonly reason: string }
  /** The answer of an earlier request was given again. */
  | { readonly state: 'answered_before' }

/** One import as the registry shows it. Instants are microseconds since 1970, UTC. */
export type ListedImport = NewImport & {
  readonly id: string
  readonly state: ImportState
  readonly waitsFor: WaitCode | undefined
  readonly recordsRead: number
  /** In all; undefined until the last one is read. */
  readonly records: number | undefined
  readonly counts: ImportCounts | undefined
  readonly reason: string | undefined
  readonly startedAt: bigint
  readonly updatedAt: bigint
  readonly endedAt: bigint | undefined
  readonly cancelRequestedAt: bigint | undefined
}

/** An import of this process. No call waits for the store, or fails because of it. */
export type RunningImport = {
  readonly id: string
  /** Aborted with an ImportCancelled when somebody has cancelled the import. */
  readonly signal: AbortSignal
  /** Notes how many records were read. For every record, so it costs next to nothing. */
  progress(recordsRead: number): void
  /** Notes what the import does now. From `checking` on every record has been read. */
  enter(state: Exclude<RunningState, 'waiting'>): void
  /** Notes what the import waits for, until it enters a state. */
  wait(code: WaitCode): void
  /** The first call counts. */
  end(outcome: ImportOutcome): void
}

/** An import was cancelled over HTTP or by the command, and has stored nothing. */
export class ImportCancelled extends Error {
  override readonly name = 'ImportCancelled'
  constructor() {
    super('the import was cancelled; nothing was changed')
  }
}

export type ImportsPart = {
  /** One of the states; no import is in another. */
  readonly state: string | undefined
  readonly kind: string | undefined
  /** Only the imports of clients that are bound to this customer. */
  readonly ofClientsOf: string | undefined
  /** The id that the first import comes after. */
  readonly after: string | undefined
  readonly importsMax: number
}

export type CountedImports = Pick<ListedImport, 'state' | 'waitsFor'> & { readonly imports: number }

export type CancelOutcome =
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'ended' | 'cancelling'; readonly found: ListedImport }

/**
 * The port to the registry of imports: what runs and what ran, on every process. Each process
 * writes what it does about once a second. The rows of a process that has died are `lost`.
 */
export type ImportRegistry = {
  begin(entry: NewImport): RunningImport
  /** The newest first, with everything that this process has noted. */
  list(part: ImportsPart): Promise<readonly ListedImport[]>
  /** An import that a caller may see by this id. */
  find(id: string, ofClientsOf: string | undefined): Promise<ListedImport | undefined>
  /** Asks an import to end, in whichever process it runs. */
  cancel(id: string, ofClientsOf: string | undefined): Promise<CancelOutcome>
  /** The newest that run or ended lately, by state and by what they wait for. */
  count(): Promise<readonly CountedImports[]>
  /** Writes now what this process has noted. Never rejects. */
  written(): Promise<void>
  /** Forgets every import, for the reset of the sandbox. */
  clear(): Promise<void>
  /** Writes what is left to write. */
  close(): Promise<void>
}
