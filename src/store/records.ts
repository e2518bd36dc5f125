import type { Tenant } from '../contract/principal.ts'
import type { ListView, RecordFault, Resource, View } from '../contract/resource.ts'
import type { DamageScan } from './integrity/damage-scan.ts'
import type { StoredRows } from './integrity/stored-row.ts'
import type { Position } from './position.ts'

/** The port to the records. `customers` sees one tenant in each call, `operator` every tenant. */
export type Store = {
  readonly customers: CustomerRecords
  readonly operator: OperatorRecords
  /** The damaged records that are known, and the search for more. */
  readonly damage: DamageScan
  /** Resolves when the store answers; rejects with the reason when it does not. */
  ping(): Promise<void>
  /** The faults that an integrity check of the whole store finds. */
  integrityFaults(): Promise<readonly string[]>
  close(): Promise<void>
}

export type CustomerRecords = {
  /** The stored text of one record. Undefined if it is unknown, of another tenant, or deleted. */
  get(tenant: Tenant, view: View, id: string, includeDeleted: boolean): Promise<string | undefined>
  page(tenant: Tenant, view: ListView, selection: Selection): Promise<Page>
  /**
   * The revision of a tenant's records of one kind, as `page` would answer it. Undefined while a
   * record of the kind is known to be damaged: then every page must be verified.
   */
  revision(tenant: Tenant, resource: Resource): Promise<string | undefined>
}

/** Which records a page shows. Values of one filter are joined by OR, filters by AND. */
export type Selection = {
  readonly anyOf: readonly { readonly column: string; readonly values: readonly string[] }[]
  /** The range of the member that sorts the list, in microseconds: from ≤ time < before. */
  readonly from: bigint | undefined
  readonly before: bigint | undefined
  readonly includeDeleted: boolean
  readonly order: 'ASC' | 'DESC'
  /** The last position of the previous page. */
  readonly after: Position | undefined
  /** The log position of the previous page. A replica that is behind it must not answer. */
  readonly notBefore?: bigint | undefined
  readonly limit: number
}

/** `items` is the records joined by commas. Any change to the list gives another `revision`. */
export type Page = {
  readonly items: Uint8Array
  /** Ends the use of `items`, whose memory the store then reuses. */
  readonly release?: () => void
  readonly rows: number
  readonly last: Position | undefined
  readonly more: boolean
  readonly revision: string
  /** The position in the store's log, in bytes. Absent where the store has no replicas. */
  readonly logPosition?: bigint
}

export type OperatorRecords = {
  /**
   * Opens an import of one file. No reader sees any of it before `merge` resolves. Rejects if there
   * is no space for a file of `fileBytes`, as far as the store can tell.
   */
  beginLoad(resource: Resource, fileBytes?: number): Promise<RecordLoad>
  /** Every record as one line of JSON that import accepts, by customer and then in order. */
  exportLines(resource: Resource, customerId: string | undefined): AsyncIterable<string>
  /** A record of any customer, also a deleted one. Rejects with a StoreDamaged if it is damaged. */
  find(resource: Resource, id: string): Promise<FoundRecord | undefined>
  count(resource: Resource): Promise<number>
  /** The newest entries of the journal of imports, newest first. */
  journal(entriesMax: number): Promise<readonly JournalEntry[]>
  /** Everything stored of each record, for an integrity check. */
  readonly rows: StoredRows
  /**
   * Empties the store. Only the sandbox calls it, for its reset. PostgreSQL keeps the journal of
   * imports, which no role may shorten.
   */
  clear(): Promise<void>
}

/** A record as one line of JSON that import accepts. Each change gives another `version`. */
export type FoundRecord = { readonly line: string; readonly version: string }

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
  readonly full: string
  /** The masked form; null for a kind without a mask. */
  readonly masked: string | null
  /** Microseconds; null restores a deleted record; undefined keeps the stored value. */
  readonly deletedAt: bigint | null | undefined
  readonly updatedAt: bigint | null
  readonly sourceVersion: bigint | null
}

export type RecordLoad = {
  /** Returns a promise when the store cannot keep up; await it before staging the next record. */
  stage(record: StorableRecord): Promise<void> | undefined
  /** The faults that `merge` would find, without a transaction. */
  check(options: Pick<MergeOptions, 'allowOlder'>): Promise<FoundFaults>
  /** Checks and merges the records in one transaction. A fault or a dry run changes nothing. */
  merge(options: MergeOptions): Promise<MergeReport>
  /** Drops the staged records. May be called at any time, more than once. */
  close(): Promise<void>
}

export type MergeOptions = {
  readonly dryRun: boolean
  readonly allowOlder: boolean
  /** What the journal notes about each file. Without it, it has no entry of the import. */
  readonly origins?: readonly ImportOrigin[] | undefined
  /** Takes each record that conflicts, and the others are merged. Without it, none is. */
  readonly reject?: ((rejected: RejectedRecord) => void) | undefined
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
  /** Of the bytes before decompression, in hex. */
  readonly sha256: string
  /** The user of the operating system, and the user who ran sudo. */
  readonly user: string
  readonly sudoUser: string | undefined
}

/** One import as the journal keeps it, written in the transaction of its merge. */
export type JournalEntry = ImportOrigin & {
  /** Microseconds, the same as in the records that the import stored. */
  readonly importedAt: bigint
  readonly kind: string
  /** The role of the database. Undefined where there is none. */
  readonly role: string | undefined
  /** Equal records included, rejected ones left out. */
  readonly records: number
  readonly added: number
  readonly changed: number
  readonly unchanged: number
}

export type LineFault = RecordFault & { readonly line: number }

/** `faults` are the first ones, in the order of their lines. `faultCount` counts all of them. */
export type FoundFaults = {
  readonly faults: readonly LineFault[]
  readonly faultCount: number
}

export type MergeReport = FoundFaults & {
  readonly rejected: number
  readonly added: number
  readonly changed: number
  readonly unchanged: number
}
