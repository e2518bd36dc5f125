import type { Tenant } from '../contract/principal.ts'
import type { ListView, RecordFault, Resource, View } from '../contract/resource.ts'
import type { Position } from './position.ts'

/**
 * The port to the records. It has two doors: every call through `customers` names a tenant and sees that tenant's
 * records only; `operator` sees all of them and belongs to the operator's own commands.
 */
export type Store = {
  readonly customers: CustomerDoor
  readonly operator: OperatorDoor
  /** Resolves when the store answers; rejects with the reason when it does not. */
  ping(): Promise<void>
  /** What an integrity check of the whole store finds; empty where it is sound. */
  integrityFaults(): Promise<readonly string[]>
  close(): Promise<void>
}

export type CustomerDoor = {
  /** The stored text of one record, or undefined for an unknown, foreign or deleted id alike. */
  get(tenant: Tenant, view: View, id: string, reveal: boolean): Promise<string | undefined>
  page(tenant: Tenant, view: ListView, selection: Selection): Promise<Page>
}

/** Which records a page shows. Entries of one filter are joined by OR, filters by AND. */
export type Selection = {
  readonly anyOf: readonly { readonly column: string; readonly values: readonly string[] }[]
  /** Half-open range of the order member, in microseconds: from ≤ at < before. */
  readonly from: bigint | undefined
  readonly before: bigint | undefined
  /** Deleted records too. */
  readonly reveal: boolean
  readonly order: 'ASC' | 'DESC'
  /** The last position of the page before this one. */
  readonly after: Position | undefined
  /** Where the log stood when that page was read: no copy of the store that has not come so far may answer this one. */
  readonly notBefore?: bigint | undefined
  readonly limit: number
}

/**
 * `items` holds the stored bytes of `rows` records, joined by commas. `revision` is another number after every change to
 * the customer's records of this kind.
 */
export type Page = {
  readonly items: Uint8Array
  readonly rows: number
  readonly last: Position | undefined
  readonly more: boolean
  readonly revision: number
  /** Where the log of the store stood, in bytes; absent where there is but one copy of the store. */
  readonly logPosition?: bigint
}

export type OperatorDoor = {
  /** Opens an import of one file. Nothing is visible to anyone before `merge` resolves. */
  beginLoad(resource: Resource): Promise<RecordLoad>
  /** Every record of a kind as one line of JSON that import takes back, by customer and then in order. */
  exportLines(resource: Resource, customerId: string | undefined): AsyncIterable<string>
  count(resource: Resource): Promise<number>
  /** Empties the store. The sandbox's reset is the only caller. */
  clear(): Promise<void>
}

/** A rendered record on its way in. */
export type StorableRecord = {
  readonly line: number
  readonly customerId: string
  readonly id: string
  readonly position: Position
  /** Values of the resource's filter columns, of its unique members, and its exclusive key, by column. */
  readonly members: Readonly<Record<string, string | null>>
  readonly full: string
  /** The masked form; null where lists answer the full one. */
  readonly masked: string | null
  /** Microseconds; null where not deleted; undefined keeps what is stored. */
  readonly deletedAt: bigint | null | undefined
  readonly updatedAt: bigint | null
  readonly sourceVersion: bigint | null
}

export type RecordLoad = {
  /** A promise where the store is behind: the next record waits for it. */
  stage(record: StorableRecord): Promise<void> | undefined
  /**
   * Checks the staged records against each other and against what is stored, then merges them in one short
   * transaction. With any fault, and on a dry run, nothing is changed.
   */
  merge(options: MergeOptions): Promise<MergeReport>
  /** Gives the staging room back. Safe to call at any time, and twice. */
  close(): Promise<void>
}

export type MergeOptions = { readonly dryRun: boolean; readonly allowOlder: boolean }

export type LineFault = RecordFault & { readonly line: number }

export type MergeReport = {
  readonly faults: readonly LineFault[]
  readonly added: number
  readonly changed: number
  readonly unchanged: number
}
