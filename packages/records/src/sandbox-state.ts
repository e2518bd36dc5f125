import type { Resource } from '@bursar/contract'
import type { ClientOrigin, StorableRecord } from './records/import.ts'

/** New records of one kind, rendered. */
export type NewRecords = {
  readonly resource: Resource
  readonly records: readonly StorableRecord[]
}

/** Records of one kind as they were from a time on. */
export type PastRecords = NewRecords & {
  /** Microseconds. */
  readonly at: bigint
  /** Whose requests have stored them. */
  readonly from: ClientOrigin | undefined
}

export type SandboxHistory = {
  /** The earliest first. Each is rendered when it is stored, so that memory holds one at a time. */
  readonly history: Iterable<PastRecords>
  /** Display names of the customers. */
  readonly names: Readonly<Record<string, string>>
}

/**
 * What tests may do to the embedded store of a sandbox, past the rules that hold for customers and
 * operators. No other command opens it.
 */
export type SandboxState = {
  /**
   * Stores versions of records that exist nowhere yet, as imports of those times would have, and
   * names the customers. A time that has not come yet counts as now.
   */
  storeHistory(history: SandboxHistory): Promise<void>
  /** Adds records that exist nowhere yet, in one transaction. False if one of them does exist. */
  addRecords(added: readonly NewRecords[]): Promise<boolean>
  /**
   * Removes a record from every read but that of events, which show that it was deleted. False if
   * there is none with this id.
   */
  removeRecord(resource: Resource, id: string): Promise<boolean>
  /**
   * Removes everything of a customer: records, history, fee quotes, clients and secrets. Numbers of
   * its events are never used again.
   */
  removeCustomer(customerId: string): Promise<void>
  /** Copies both databases as they are at this moment. */
  saveSnapshot(id: string): Promise<void>
  /** Puts back both databases. Entity tags and revisions of credentials never repeat. */
  restoreSnapshot(id: string): Promise<void>
  dropSnapshot(id: string): Promise<void>
  close(): Promise<void>
}
