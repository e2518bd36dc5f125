import type { ListView, Resource, Tenant, View } from '@bursar/contract'
import type { ChangeWatch } from './change-watch.ts'
import type { Imports } from './imports.ts'
import type { DerivedFault } from './integrity/derived-rows.ts'
import type { KnownDamage } from './integrity/known-damage.ts'
import type { StoredRows } from './integrity/stored-rows.ts'
import type { AcrossRecords } from './records/across.ts'
import type { CustomerRegister } from './records/customer-entries.ts'
import type { ErasedPart, ErasedRecords, ErasePlace } from './records/erasure.ts'
import type { ChangePage, ChangePlace, CustomerEvents } from './records/events.ts'
import type {
  FoundRecord,
  History,
  HistoryPart,
  PastRecord,
  PastSelection,
  PruneKey,
  Pruning,
  RecordName,
  Search,
  SearchFound,
  UpdatedRecord,
} from './records/history.ts'
import type { LoadOptions, RecordLoad } from './records/import.ts'
import type { LatestChange } from './records/latest-change.ts'
import type { Page, PageRows, Revision, Selection } from './records/page.ts'
import type { PutOutcome, PutRequest } from './records/put.ts'
import type { CustomerKeySource } from './sealing/customer-keys.ts'
import type { Resealing } from './sealing/reseal.ts'

/** The port to the records. `customers` sees one tenant in each call, `operator` every tenant. */
export type Store = {
  readonly customers: CustomerRecords
  readonly operator: OperatorRecords
  readonly imports: Imports
  /** What is known of damaged records, and reads for a walk over all of them. */
  readonly damage: KnownDamage & { readonly walkedRows: StoredRows }
  /** Resolves when the store answers; rejects with the reason when it does not. */
  ping(): Promise<void>
  /** The database servers as this process last saw them. The embedded store has none. */
  servers(): readonly StoreServer[]
  /** The faults that an integrity check of the whole store finds. */
  integrityFaults(): Promise<readonly string[]>
  close(): Promise<void>
}

/** A database server. */
export type StoreServer = {
  readonly name: string
  readonly role: 'primary' | 'standby' | 'unknown'
  /** Whether requests are answered from it. */
  readonly isUsed: boolean
}

export type CustomerRecords = {
  /** The stored text of one record. Undefined if it is unknown, of another tenant, or deleted. */
  get(tenant: Tenant, view: View, id: string, includeDeleted: boolean): Promise<string | undefined>
  page(tenant: Tenant, view: ListView, selection: Selection): Promise<Page>
  /** The revision of a tenant's records of one kind, as `page` would answer it. */
  revision(tenant: Tenant, resource: Resource): Promise<Revision>
  /**
   * A page at a time in microseconds, from the records as the view's table has them. Rejects with a
   * PastUnknown for a time before the tenant's records of the kind are kept.
   */
  pageAsOf(tenant: Tenant, view: View, selection: PastSelection): Promise<PageRows>
  /**
   * What has happened to the tenant's records, in the order in which it was stored. A fresh read
   * has all that is committed, where a replica may lack the last of it.
   */
  events(tenant: Tenant, isFresh?: boolean): CustomerEvents
  /** Tells readers when there is more. */
  readonly changes: ChangeWatch
}

export type OperatorRecords = {
  /**
   * Opens an import of one file. No reader sees any of it before `merge` resolves. Rejects if there
   * is no space for a file of `fileBytes`, as far as the store can tell.
   */
  beginLoad(resource: Resource, options?: LoadOptions): Promise<RecordLoad>
  /**
   * Every record as one line of JSON that import accepts, by customer and then in order. All are of
   * one moment, whose snapshot they hold, so the caller takes them at once.
   */
  exportLines(resource: Resource, customerId: string | undefined): AsyncIterable<string>
  /** The customers, with their display names and the counts that are kept of each. */
  readonly customers: CustomerRegister
  /** The keys of customers, for a process that may not unwrap them. */
  readonly keys: CustomerKeySource
  /** Reads every key of a customer again before its next use, after one was destroyed. */
  forgetKeys(): void
  /** Seals stored bodies again with the current keys of their customers. */
  readonly resealing: Resealing
  /** Stores one record by the rules of an import. Records that wait together share a commit. */
  put(resource: Resource, request: PutRequest): Promise<PutOutcome>
  /** A record, also a deleted or a withdrawn one. Rejects with a StoreDamaged if it is damaged. */
  find(resource: Resource, name: RecordName): Promise<FoundRecord | undefined>
  /**
   * A record at a time in microseconds. Undefined for an id that no customer has. Rejects with a
   * PastUnknown as `pageAsOf` does.
   */
  findAsOf(resource: Resource, name: RecordName, asOf: bigint): Promise<PastRecord | undefined>
  /**
   * What `customers.page` answered at a time, or the same records in full. Rejects with a
   * PastUnknown for a time before the customer's records of the kind are kept.
   */
  pageAsOf(
    resource: Resource,
    tenant: Tenant,
    view: 'customer' | 'full',
    selection: PastSelection,
  ): Promise<PageRows>
  /** Versions of a record, oldest first. Undefined if it is unknown. */
  history(resource: Resource, name: RecordName, part: HistoryPart): Promise<History | undefined>
  /**
   * The version that was stored at a time, and the one before it, in fewer queries than a history.
   * Undefined where one of them is not kept.
   */
  update(
    resource: Resource,
    name: { readonly id: string; readonly customerId: string },
    storedAt: bigint,
  ): Promise<UpdatedRecord | undefined>
  /** Live records of every customer, or of one, in an order of all of them. */
  across(resource: Resource): AcrossRecords
  /** Records of every customer, or of one, by a complete identifier or the start of a memo. */
  search(search: Search): Promise<SearchFound>
  /**
   * Deletes versions that were replaced before a time. It reads `rowsMax` rows, and answers where
   * to go on. The first step raises the time since which records are kept.
   */
  pruneHistory(before: bigint, from: PruneKey | undefined, rowsMax: number): Promise<Pruning>
  /** What is stored of a customer. Undefined for one that has never had a record or a key. */
  holdings(customerId: string): Promise<ErasedRecords | undefined>
  /** How many records of each kind a customer has, without kinds of which it has none. */
  holdingsByKind(customerId: string): Promise<Readonly<Record<string, number>>>
  /**
   * How many of a customer's records, versions and fee events were stored before a time. It looks
   * at the first ones of each kind.
   */
  countStoredBefore(customerId: string, at: bigint): Promise<number>
  /**
   * Removes a part of a customer's records, versions and events, and of what was answered to these
   * clients, in one transaction; in the last one also its keys, which the caller has listed as
   * destroyed after the part before. Its places in the feed become unknown with the first part.
   */
  eraseSome(
    customerId: string,
    clientIds: readonly string[],
    from: ErasePlace | undefined,
  ): Promise<ErasedPart>
  /**
   * Events of every customer, those of each in their order. Rejects with an EventsUnknown if it
   * cannot go on from the place without a gap.
   */
  changes(after: ChangePlace | undefined, limit: number): Promise<ChangePage>
  /** The newest events of all customers, or of one, the newest first; at most so many. */
  latestChanges(
    customerId: string | undefined,
    changesMax: number,
  ): Promise<readonly LatestChange[]>
  /** The events of one customer. */
  eventsOf(customerId: string): CustomerEvents
  /**
   * Adds the event of a fee that a withdrawal has consumed, once, by a deadline of
   * `Time.elapsedMs`.
   */
  noteConsumed(
    fee: { readonly id: string; readonly customerId: string },
    deadline: number,
  ): Promise<void>
  count(resource: Resource): Promise<number>
  /**
   * Writes what these faults name again, from the records as they are then, while nobody else
   * stores anything of their customers. A contested value stays nobody's.
   */
  rewrite(resource: Resource, faults: readonly DerivedFault[]): Promise<void>
  /** Everything stored of each record, for an integrity check. */
  readonly rows: StoredRows
  /** Empties the store. Only the sandbox calls it, for its reset. */
  clear(): Promise<void>
}
