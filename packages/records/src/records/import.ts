import type { RecordFault, WaitCode } from '@bursar/contract'
import type { StoredOutcome } from '../imports.ts'
import { recordsLimits } from '../limits.ts'
import type { Position } from '../position.ts'

/** A checked and rendered record that an import stages. */
export type StorableRecord = {
  /** Its line; those of several files are numbered through. */
  readonly line: number
  /** The number of its file in this import. 0 by default. */
  readonly file?: number
  /** As it came, where `merge` is to pass on the records that it rejects. */
  readonly raw?: string | undefined
  readonly customerId: string
  readonly id: string
  readonly position: Position
  /** The values of the filter columns and of the exclusive key, by column. */
  readonly members: Readonly<Record<string, string | null>>
  /** The names of its private terms, of which `members.terms` has none yet. */
  readonly privateTerms?: readonly string[]
  readonly full: string
  /** The masked form; null for a kind without a mask. */
  readonly masked: string | null
  /** Microseconds; null restores a deleted record; undefined keeps the stored value. */
  readonly deletedAt: bigint | null | undefined
  readonly updatedAt: bigint | null
  readonly sourceVersion: bigint | null
}

/** A record whose full body is as it will be stored. */
export type SealedRecord = Omit<StorableRecord, 'full' | 'privateTerms'> & {
  readonly stored: string
  /** Of the body: a keyed digest for kinds that are sealed, or else a CRC. */
  readonly checksum: number
  /** The key of its customer, for kinds that are sealed. */
  readonly keyId: string | null
  /** Whether the stored body is damaged, so that the same content replaces it. */
  readonly mends?: boolean
}

/** How a reason names another line of the import. */
export type LineName = (line: number) => string

export type LoadOptions = {
  /** `line 7` by default. */
  readonly nameLine?: LineName | undefined
  /** The size of files that are not compressed. */
  readonly fileBytes?: number | undefined
  /** Whether the import shares its process with requests. */
  readonly isInServer?: boolean
  /** Ends the import with its reason, until its merge begins. */
  readonly signal?: AbortSignal | undefined
}

/** Told what a merge waits for, and what it does. */
export type OnStep = (step: WaitCode | 'checking' | 'merging') => void

export type RecordLoad = {
  /** Returns a promise when the store cannot keep up; await it before staging the next record. */
  stage(record: StorableRecord): Promise<void> | undefined
  /** The faults that `merge` would find, without a transaction. */
  check(options: Pick<MergeOptions, 'allowOlder' | 'takeOver'>): Promise<FoundFaults>
  /** Checks and merges the records in one transaction. A fault or a dry run changes nothing. */
  merge(options: MergeOptions): Promise<MergeReport>
  /** Drops the staged records. May be called at any time, more than once. */
  close(): Promise<void>
}

export type MergeOptions = {
  readonly dryRun: boolean
  readonly allowOlder: boolean
  /**
   * Takes ids, addresses and memos from the records of other customers that have them, and
   * withdraws those records. Without it, such a value is a fault.
   */
  readonly takeOver?: boolean | undefined
  /** Where the records of each file come from. */
  readonly origins?: readonly MergeOrigin[] | undefined
  /**
   * What the row of the import gets in the transaction of the merge. The merge rejects, and changes
   * nothing, if the import was cancelled or is taken for lost.
   */
  readonly row?: ((report: MergeReport) => StoredOutcome) | undefined
  /** Takes each record that conflicts, and the others are merged. Without it, none is. */
  readonly reject?: ((rejected: RejectedRecord) => void) | undefined
  /** Asked once all were rejected that conflict. Its faults prevent the merge of the others. */
  readonly rejectedFaults?: (() => FoundFaults) | undefined
  readonly onStep?: OnStep | undefined
}

/** A staged record that conflicts with another or with a stored one. */
export type RejectedRecord = {
  readonly file: number
  readonly line: number
  readonly raw: string
  readonly faults: readonly RecordFault[]
}

/** Who imports which file. */
export type ImportOrigin = {
  /** Without its folder; `-` is standard input. */
  readonly file: string
  /** The user of the operating system, and the user who ran sudo. */
  readonly user: string
  readonly sudoUser: string | undefined
}

/** The client whose requests store records. */
export type ClientOrigin = {
  readonly command: 'PUT' | 'POST' | 'DELETE'
  readonly clientId: string
}

export type MergeOrigin = {
  readonly from: ImportOrigin | ClientOrigin
  /**
   * What the numbers of its lines begin after, since the lines of several files go on. Null for
   * records that come by themselves.
   */
  readonly linesBefore: number | null
}

export type LineFault = RecordFault & { readonly line: number }

/** `faults` are the first ones, in the order of their lines. `faultCount` counts all of them. */
export type FoundFaults = {
  readonly faults: readonly LineFault[]
  readonly faultCount: number
}

export const noFaults: FoundFaults = { faults: [], faultCount: 0 }

/** The faults of several searches as one, the first lines first. */
export const joinFaults = (found: readonly FoundFaults[]): FoundFaults => ({
  faults: found
    .flatMap(({ faults }) => faults)
    .toSorted((a, b) => a.line - b.line)
    .slice(0, recordsLimits.faultsReportedMax),
  faultCount: found.reduce((sum, { faultCount }) => sum + faultCount, 0),
})

export type MergeReport = FoundFaults & {
  readonly rejected: number
  /** Records of other customers from which a value was taken. */
  readonly withdrawn: number
  readonly added: number
  readonly changed: number
  readonly unchanged: number
}
