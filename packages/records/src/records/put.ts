import type { RecordFault } from '@bursar/contract'
import type { ClientOrigin, SealedRecord, StorableRecord } from './import.ts'

/** A stored record to withdraw. One of a kind with deletions is deleted instead. */
export type Withdrawal = Pick<StorableRecord, 'customerId' | 'id'> & { readonly withdraws: true }

/** One record to store or to withdraw, by itself. */
export type PutRequest<R = StorableRecord> = {
  readonly record: R | Withdrawal
  readonly precondition: Precondition
  /** Lets it replace a record that is newer. */
  readonly allowOlder: boolean
  /** Lets it take values from the records of other customers, which are withdrawn. */
  readonly takeOver?: boolean | undefined
  readonly from: ClientOrigin
}

/** The same with its body as it will be stored. */
export type SealedPut = PutRequest<SealedRecord>

/** What must be true of the stored version, as RFC 9110 section 13 has it. */
export type Precondition = {
  /** One of these versions is stored; `any` is any. */
  readonly match?: readonly string[] | 'any' | undefined
  /** None of these versions is stored; `any` is any. */
  readonly noneMatch?: readonly string[] | 'any' | undefined
}

export type PutOutcome =
  | { readonly outcome: 'added' | 'changed' | 'unchanged'; readonly version: string }
  /** There is no such record to withdraw. */
  | { readonly outcome: 'missing' }
  /** The precondition is false. Undefined where the customer has no such record now. */
  | { readonly outcome: 'unmatched'; readonly version: string | undefined }
  /** It conflicts with stored records. */
  | { readonly outcome: 'refused'; readonly faults: readonly RecordFault[] }

export function isMet({ match, noneMatch }: Precondition, version: string | undefined): boolean {
  const isAmong = (versions: readonly string[] | 'any') =>
    version !== undefined && (versions === 'any' || versions.includes(version))
  return (match === undefined || isAmong(match)) && (noneMatch === undefined || !isAmong(noneMatch))
}
