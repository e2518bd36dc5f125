import type { Clock, Metrics } from '@bursar/base'
import type { AuditEntry } from '@bursar/contract'

/** A place in a chain: the digest of the line covers every line before it. */
export type AuditHead = {
  readonly chain: string
  readonly sequence: bigint
  readonly digest: string
}

/** A stored line. Its digest is keyed by an audit key, and covers the digest of the line before. */
export type AuditLine = AuditHead & {
  /** By the clock of the writer, in microseconds since 1970, UTC. */
  readonly at: bigint
  readonly keyId: string
  /** The entry as JSON. */
  readonly body: string
}

/** What is left of the first lines of a chain that were deleted. Its seal is a keyed digest. */
export type AuditAnchor = AuditHead & { readonly keyId: string; readonly seal: string }

/** The key that digests are made with. A revoked key still checks the lines that it made. */
export type AuditKey = { readonly id: string; readonly key: Uint8Array }

export type AuditDeps = {
  readonly clock: Clock
  /** The key for new lines. */
  readonly key: () => AuditKey
  readonly metrics?: Metrics | undefined
}

/** The audit log as a process writes it: each in a chain of its own, so that it reads nothing. */
export type AuditLog = {
  /**
   * Resolves once the entry is on disk, alone or in a line with others of the same meaning. Rejects
   * with a StoreUnavailable if that is not certain.
   */
  write(entry: AuditEntry): Promise<void>
  /** Entries that are not written yet. */
  depth(): number
  /** The last line that this process has written. */
  head(): AuditHead | undefined
  /** The last lines of the chains, of every process, that were written to last, since a time. */
  heads(since: bigint, chainsMax: number): Promise<readonly AuditHead[]>
  close(): Promise<void>
}

/** A line as it is read. Somebody may have stored it past the checks of the table. */
export type ReadLine = AuditLine & {
  /** The bytes of a chain that is no text, which the text of the chain does not tell. */
  readonly chainBytes?: Uint8Array
  /** Whether every column has text or a number, as the program writes them. */
  readonly isLegible: boolean
}

export type AuditPlace = Pick<ReadLine, 'chain' | 'sequence' | 'chainBytes'>

/** Lines in the order of their times. */
export type AuditPart = {
  readonly since: bigint | undefined
  readonly until: bigint | undefined
  /** The line that the first one comes after in this order. */
  readonly after: (AuditPlace & Pick<AuditLine, 'at'>) | undefined
  readonly newestFirst: boolean
  readonly linesMax: number
}

/** The audit log for its auditor. On PostgreSQL the roles of the program have no right to it. */
export type AuditReader = {
  lines(part: AuditPart): Promise<readonly ReadLine[]>
  /** In the order of the chains, each from its first line on. Without a place, the first lines. */
  linesAfter(place: AuditPlace | undefined, linesMax: number): Promise<readonly ReadLine[]>
  /** How many rows of the table are no lines: a column has no value, or one of another type. */
  strays(): Promise<bigint>
  find(place: Pick<AuditLine, 'chain' | 'sequence'>): Promise<ReadLine | undefined>
  anchor(chain: string): Promise<AuditAnchor | undefined>
  /** Replaces the lines of a chain up to the anchor by it, in one transaction. */
  replaceBy(anchor: AuditAnchor): Promise<void>
  /** Deletes the marks of clients that have a later one, and tokens that expired before a time. */
  forgetMarks(before: bigint): Promise<void>
}
