import type { Resource } from '../../contract/resource.ts'
import { bodyChecksum } from './checksum.ts'

/** One stored record with everything that the store keeps of it, as an integrity check reads it. */
export type StoredRow = {
  readonly customerId: string
  readonly id: string
  readonly deleted: boolean
  readonly position: Uint8Array
  /** The filter columns and the exclusive key, by column. */
  readonly members: Readonly<Record<string, string | null>>
  /** What lists answer. */
  readonly listed: StoredBody
  /** The unmasked record of a kind with a mask; null where its row is missing. */
  readonly unmasked: (StoredBody & { readonly deleted: boolean }) | null | undefined
  readonly deletedAt: bigint | null
  readonly updatedAt: bigint | null
  readonly sourceVersion: bigint | null
}

export type StoredBody = { readonly body: string; readonly checksum: number }

/** The place of a row in its table, which is read in this order. */
export type RowKey = Pick<StoredRow, 'customerId' | 'deleted' | 'position'>

/** How an integrity check reads stored records. */
export type StoredRows = {
  /** The rows after a key, in the order of the table. */
  after(resource: Resource, key: RowKey | undefined, rowsMax: number): Promise<readonly StoredRow[]>
  /** Undefined if the customer has no record with this id. */
  find(resource: Resource, customerId: string, id: string): Promise<StoredRow | undefined>
  /** Ids of unmasked records whose masked record is missing. */
  unpaired(resource: Resource, rowsMax: number): Promise<readonly string[]>
}

/** What is wrong with a row by itself, without a rendering of its record. Quotes no value. */
export function rowFaults({ mask }: Resource, row: StoredRow): string[] {
  const { listed, unmasked, customerId, deleted } = row
  const isMasked = mask !== undefined
  const faults = bodyFaults(customerId, listed, isMasked ? 'the masked body' : 'the body')
  if (deleted !== (row.deletedAt !== null))
    faults.push('the mark and the time of its deletion differ')
  if (!isMasked) return faults
  if (unmasked == null) return [...faults, 'the full record is missing']
  if (unmasked.deleted !== deleted) faults.push('only one of its two rows is deleted')
  return [...faults, ...bodyFaults(customerId, unmasked, 'the full body')]
}

function bodyFaults(customerId: string, { body, checksum }: StoredBody, name: string): string[] {
  const isIntact = bodyChecksum(customerId, body) === checksum
  return isIntact ? [] : [`${name} does not match its checksum`]
}

/** Whether a key comes later in the order of the table: customers byte by byte. */
export function comesAfter(key: RowKey, earlier: RowKey): boolean {
  const byCustomer = Buffer.compare(Buffer.from(key.customerId), Buffer.from(earlier.customerId))
  if (byCustomer !== 0) return byCustomer > 0
  if (key.deleted !== earlier.deleted) return key.deleted
  return Buffer.compare(key.position, earlier.position) > 0
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** An id for a message. A damaged id may hold anything, so only a UUID is shown. */
export const shownId = (id: string): string => (uuid.test(id) ? id : '(damaged id)')
