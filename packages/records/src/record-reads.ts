import type { AuditActor } from '@bursar/contract'

/** That somebody saw a record in full, or a list that may have had it. Microseconds. */
export type RecordRead = {
  readonly at: bigint
  /** Tells reads of the same time apart. */
  readonly number: bigint
  readonly action: string
  readonly actor: AuditActor
  /** Whether it was this record, or a page of the customer's records of its kind. */
  readonly shown: 'record' | 'list'
  readonly rows: number | undefined
  /** What a person has stated. */
  readonly reason: string | undefined
}

export type ReadsPart = {
  readonly customerId: string
  readonly kind: string
  readonly id: string
  /** Undefined from the newest one on. */
  readonly before: Pick<RecordRead, 'at' | 'number'> | undefined
  readonly readsMax: number
}

/** Who saw a record in full, as the audit log has it. For processes that serve the operator. */
export type RecordReads = {
  /** Newest first. */
  list(part: ReadsPart): Promise<readonly RecordRead[]>
  close(): Promise<void>
}
