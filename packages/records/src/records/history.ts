import type { Position } from '../position.ts'
import type { Value } from '../session.ts'
import type { ClientOrigin, ImportOrigin } from './import.ts'
import type { Selection } from './page.ts'

/** A record by its id. Nothing of another customer is read for the record of a named one. */
export type RecordName = {
  readonly id: string
  /** Undefined for the record of whichever customer has the id. */
  readonly customerId: string | undefined
}

/** A record as one line of JSON that import accepts. Each change gives another `version`. */
export type FoundRecord = {
  readonly customerId: string
  readonly line: string
  readonly version: string
  /** Whether it is the mark of a withdrawal, which has the members of the version before it. */
  readonly isWithdrawn: boolean
}

/** Which records a page showed at a time in microseconds. */
export type PastSelection = Selection & { readonly asOf: bigint }

export type HistoryPart = {
  /** Only versions that were stored after this one. */
  readonly after: VersionPlace | undefined
  readonly versionsMax: number
}

export type History = {
  readonly customerId: string
  /** Oldest first. */
  readonly versions: readonly Version[]
  /** The version before the first of them, to compare it with. */
  readonly previous: Version | undefined
  /** From when on the customer's records of the kind are known, in microseconds. */
  readonly keptSince: bigint
  readonly more: boolean
}

/** One version of a record. Times are microseconds. */
export type Version = FoundRecord & {
  readonly storedAt: bigint
  /** Undefined for the current version. */
  readonly replacedAt: bigint | undefined
  readonly origin: VersionOrigin | undefined
}

/** A version that a reader of a history has read. */
export type VersionPlace = Pick<Version, 'storedAt' | 'version'>

/** An update, as the lines of the versions before and after it. */
export type UpdatedRecord = { readonly before: string; readonly after: string }

export type VersionOrigin = (ClientOrigin | Pick<ImportOrigin, 'file' | 'user'>) & {
  /** Of the file or the stream; undefined for a record that was sent by itself. */
  readonly line: number | undefined
  /** Whether it has stored another customer's record, which took a value from this one. */
  readonly tookOver: boolean
}

export type SearchHit = {
  readonly kind: string
  readonly id: string
  readonly customerId: string
  /** Microseconds: the time by which lists sort the record. */
  readonly at: bigint
  readonly matched: string
  /** Where the search goes on after this hit. */
  readonly place: Position
}

/** What a search looks for, and after which place of an earlier hit. */
export type Search = {
  readonly query: string
  /** Undefined for records of every customer. */
  readonly customerId: string | undefined
  readonly hitsMax: number
  readonly after: Position | undefined
  /** Whether the caller may find records by the names of owners. */
  readonly findsOwners: boolean
}

export type SearchFound = {
  readonly hits: readonly SearchHit[]
  /** Where a search goes on that has compared many records and found few. */
  readonly stoppedAt: Position | undefined
}

/** Where a pruning goes on: a table, and the key of the last row that was read. */
export type PruneKey = {
  readonly table: 'history' | 'former_value' | 'change_log'
  readonly values: readonly Value[] | undefined
}

export type Pruning = { readonly deleted: number; readonly next: PruneKey | undefined }

/** What a record was at a time. */
export type PastRecord = {
  readonly customerId: string
  /** Undefined if the record was stored later. */
  readonly found: FoundRecord | undefined
}

/**
 * A time from before the store kept the customer's records of the kind, or whose versions have been
 * pruned. What was stored then, if anything, is unknown.
 */
export class PastUnknown extends Error {
  override readonly name = 'PastUnknown'
  readonly kind: string
  readonly keptSince: bigint

  constructor(kind: string, keptSince: bigint) {
    super('what was stored at that time is unknown')
    this.kind = kind
    this.keptSince = keptSince
  }
}
