import type { Config } from '@bursar/base'
import { contractLimits } from '@bursar/contract'
import type { CustomerKeys, ImportCounts, ImportRow, NewCustomerKey } from '@bursar/records'
import type { ImportReport } from '../files/import-file.ts'

/** The word by which the program runs as a writer. It is no command, so no help shows it. */
export const WRITER_WORD = 'stream-writer'

/** A stream that was received whole, and what its import needs to know. */
export type StreamJob = {
  readonly kind: string
  /** The file of the body as it was sent, and what deciphers it. */
  readonly path: string
  readonly key: Uint8Array
  readonly isGzip: boolean
  /** Of the body as it was sent, in hex. */
  readonly sha256: string
  readonly clientId: string
  /** The customer that the client is bound to. */
  readonly customerId: string | undefined
  readonly allowOlder: boolean
  readonly takeOver: boolean
  readonly row: ImportRow
  /** Whether the request had an idempotency key, so that its answer is kept in the row. */
  readonly keepsAnswer: boolean
  /** How far the clock of the service is ahead of the machine's, in microseconds. */
  readonly clockAhead: bigint
}

/** What the serving process sends to a writer. The first message has the configuration. */
export type ToWriter = { readonly config: Config } | { readonly job: StreamJob } | KeysAnswer

/** How far a stream is. A writer sends this again and again while it reads. */
export type StreamProgress = { readonly phase: 'reading' | 'merging' }

/** What a writer sends. The last message about a job is a report or a failure. */
export type FromWriter =
  | StreamProgress
  | KeysRequest
  | { readonly report: ImportReport }
  | { readonly failure: Pick<Error, 'name' | 'message' | 'stack'> }

/** A writer has no master key, so it asks for the keys of the customers whose records it stores. */
export type KeysRequest = {
  readonly keysOf: string
  readonly how: 'find' | 'find fresh' | 'ensure' | 'make' | Binding
  readonly number: number
}

/** Asks what binds a number to the customer, by the key with an id or the current one. */
export type Binding = { readonly bound: bigint; readonly keyId: string | undefined }

/** The answer to the request of that number. */
export type KeysAnswer = { readonly number: number } & (
  | { readonly keys: CustomerKeys | undefined }
  | { readonly made: NewCustomerKey }
  | { readonly binding: string | undefined }
  | { readonly failure: string }
)

type StoredReport = ImportCounts & Partial<Pick<ImportReport, 'warnings' | 'warningCount'>>

/** The body of the answer to a stream that is stored. */
export function storedOf(report: StoredReport, sha256: string) {
  const { records, added, changed, unchanged, withdrawn } = report
  const { warnings = [], warningCount = 0 } = report
  const stored = { records, added, changed, unchanged, withdrawn, sha256 }
  if (warningCount === 0) return stored
  const first = warnings.slice(0, contractLimits.faultsAnsweredMax)
  return { ...stored, warning_count: warningCount, warnings: first }
}
