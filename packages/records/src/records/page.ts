import type { Resource } from '@bursar/contract'
import { POSITION_BYTES, type Position, timePrefix } from '../position.ts'

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
  /** The `changedAt` of the previous page. A replica that is behind it must not answer. */
  readonly notBefore?: bigint | undefined
  readonly limit: number
}

/** The state of a tenant's records of one kind. A change to what lists answer gives another. */
export type Revision = {
  /** When they last changed, in microseconds. 0 before the first record. */
  readonly changedAt: bigint
  /** A random number, which tells the change from another one of that time. */
  readonly salt: bigint
}

/** What selects a last change from its row, and reads the selected text. */
export const lastChange = `changed_at || ' ' || salt`
export function readLastChange(selected: unknown): Revision {
  if (typeof selected !== 'string') return { changedAt: 0n, salt: 0n }
  const [changedAt = '', salt = ''] = selected.split(' ')
  return { changedAt: BigInt(changedAt), salt: BigInt(salt) }
}

/** Records as a page answers them. */
export type PageRows = {
  /** The records, joined by commas. */
  readonly items: Uint8Array
  /** Ends the use of `items`, whose memory the store then reuses. */
  readonly release?: () => void
  readonly rows: number
  readonly last: Position | undefined
  readonly more: boolean
}

export type Page = PageRows & {
  readonly revision: Revision
}

/** A page as an engine reads it, with the number of its customer. */
export type ReadPage = Page & {
  /** See `ownerOf`. Undefined for a customer that never had a record. */
  readonly owner: string | undefined
}

export type ColumnFilter = { readonly column: string; readonly values: readonly string[] }

/** Whether a value names at most one record of a customer, deleted records included. */
export const namesOneRecord = ({ column }: ColumnFilter): boolean =>
  column === 'id' || column === 'ref_id'

/**
 * The filters by SQL column, most selective first: id, ref_id, then the resource's columns. The
 * first one has an index. An exclusive member has none, so the filter by its keys comes before it.
 */
export function bySelectivity(resource: Resource, filters: Selection['anyOf']): ColumnFilter[] {
  const columns: Readonly<Record<string, string>> = {
    id: 'id',
    refId: 'ref_id',
    ...resource.columns,
  }
  const rank = Object.keys(columns)
  const sorted = filters
    .toSorted((a, b) => rank.indexOf(a.column) - rank.indexOf(b.column))
    .map(({ column, values }) => ({ column: columns[column] ?? column, values }))
  const [first] = sorted
  const { exclusive } = resource
  if (exclusive === undefined || first?.column !== exclusive.member) return sorted
  const keys = first.values.flatMap((value) => exclusive.keysOf(value))
  return [{ column: 'exclusive_key', values: [...new Set(keys)] }, ...sorted]
}

/** Both ends are exclusive. An end of 8 bytes is a time; it sorts before the positions of it. */
export type KeyRange = { readonly low: Uint8Array; readonly high: Uint8Array }

const BELOW_ALL: Uint8Array = new Uint8Array(0)
const ABOVE_ALL: Uint8Array = new Uint8Array(POSITION_BYTES + 1).fill(0xff)

/** The positions that a page may show: those in the selection's time range and after its cursor. */
export function rangeOf(selection: Selection): KeyRange {
  const low = selection.from === undefined ? BELOW_ALL : timePrefix(selection.from)
  const high = selection.before === undefined ? ABOVE_ALL : timePrefix(selection.before)
  if (selection.after === undefined) return { low, high }
  return selection.order === 'ASC'
    ? { low: later(low, selection.after), high }
    : { low, high: earlier(high, selection.after) }
}

const later = (a: Uint8Array, b: Uint8Array): Uint8Array => (Buffer.compare(a, b) > 0 ? a : b)
const earlier = (a: Uint8Array, b: Uint8Array): Uint8Array => (Buffer.compare(a, b) < 0 ? a : b)
