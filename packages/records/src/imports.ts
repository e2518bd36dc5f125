import type { ImportState } from '@bursar/contract'

/** A client of the operator, or the user of a command. */
export type Importer =
  | { readonly clientId: string }
  | {
      readonly user: string
      readonly sudoUser: string | undefined
      /** Without its folder; `-` is standard input. Of several files, the first. */
      readonly file: string
      readonly files: number
    }

export type NewImport = {
  readonly kind: string
  readonly importer: Importer
  /** The one customer whose records it may store. Undefined for every customer. */
  readonly boundTo: string | undefined
}

/** What a client sent under an idempotency key. */
export type KeyedRequest = {
  readonly key: string
  /** Method, path, query and the SHA-256 of the body, of which a keyed digest is stored. */
  readonly request: string
}

/** The counts of an import that was stored. */
export type ImportCounts = {
  readonly records: number
  readonly added: number
  readonly changed: number
  readonly unchanged: number
  readonly rejected: number
  readonly withdrawn: number
}

/** What the merge of an import writes in its row. */
export type StoredOutcome = {
  readonly id: string
  readonly counts: ImportCounts
  /** Of its files. Undefined where they were written when it began. */
  readonly digests: readonly string[] | undefined
  /** The answer to a request with an idempotency key, sealed. */
  readonly answer: string | undefined
}

/** How an import ended that has stored nothing. `reason` quotes nothing of a record. */
export type ImportFailure = {
  readonly state: 'refused' | 'cancelled'
  readonly reason: string
}

/** One import as its row tells it. Instants are microseconds since 1970, UTC. */
export type ListedImport = NewImport & {
  readonly id: string
  readonly state: ImportState
  /** The login of the database. Undefined where there is none. */
  readonly role: string | undefined
  readonly counts: ImportCounts | undefined
  readonly reason: string | undefined
  readonly startedAt: bigint
  /** Of a stored import, the `stored_at` of its records. */
  readonly endedAt: bigint | undefined
  readonly cancelRequestedAt: bigint | undefined
}

/** What a merge needs to write the row of its import. It may be sent to another process. */
export type ImportRow = {
  readonly id: string
  /** What the answer to a request with an idempotency key is sealed with. */
  readonly answerKey: Uint8Array
}

/** An import of this process, which has a row. */
export type RunningImport = {
  readonly row: ImportRow
  /** Aborted with an ImportCancelled when somebody has cancelled the import. */
  readonly signal: AbortSignal
  /** The keyed digest that is stored of a file, by its SHA-256. */
  digestOf(sha256: string): string
  /**
   * Writes that the import has stored nothing, unless its merge is committed. Returns the row.
   * Rejects with a StoreUnavailable if the row cannot be written; it is tried again then.
   */
  fail(failure: ImportFailure, digests?: readonly string[]): Promise<ListedImport>
  /** The import runs no more in this process. The merge has written how it ended. */
  end(): void
}

/** What became of a request with an idempotency key before. */
export type EarlierRequest =
  | { readonly is: 'running'; readonly id: string }
  | { readonly is: 'another' }
  | { readonly is: 'stored'; readonly id: string; readonly answer: string }

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

export type CountedImports = Pick<ListedImport, 'state'> & { readonly imports: number }

export type CancelOutcome =
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'ended' | 'cancelling'; readonly found: ListedImport }

/**
 * The port to the imports. Each is one row, in the database of the records. It is written when the
 * import begins. How it ended is written in the transaction of its merge, or after that was rolled
 * back. A row whose process has died is `lost`, and nothing of it is stored.
 */
export type Imports = {
  /**
   * Writes the row of an import, with the SHA-256 of its files where they are known. Rejects with a
   * StoreUnavailable if another import holds the store for too long, and with the reason of the
   * signal.
   */
  begin(entry: NewImport, sha256s?: readonly string[], signal?: AbortSignal): Promise<RunningImport>
  /** The same, unless there was a request with this idempotency key before. */
  beginOnce(
    entry: NewImport,
    sha256s: readonly string[],
    keyed: KeyedRequest,
    signal?: AbortSignal,
  ): Promise<RunningImport | EarlierRequest>
  /** The newest first. */
  list(part: ImportsPart): Promise<readonly ListedImport[]>
  /** An import that a caller may see by this id. */
  find(id: string, ofClientsOf: string | undefined): Promise<ListedImport | undefined>
  /** The imports of a file, by its SHA-256, the newest first. */
  findFile(sha256: string, importsMax: number): Promise<readonly ListedImport[]>
  /** Asks an import to end, in whichever process it runs. */
  cancel(id: string, ofClientsOf: string | undefined): Promise<CancelOutcome>
  /** The newest that run or ended lately, by state. */
  count(): Promise<readonly CountedImports[]>
  /** Empties idempotency keys and answers after a day, and deletes rows that are too old. */
  forget(keptDays: number): Promise<void>
  close(): void
}
