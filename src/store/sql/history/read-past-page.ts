import { damagedIds } from '../../integrity/page-checksums.ts'
import { POSITION_BYTES } from '../../position.ts'
import { type PastSelection, PastUnknown } from '../../records/history.ts'
import type { PageRows } from '../../records/page.ts'
import { StoreDamaged } from '../../unavailable.ts'

/** What `pastPageQuery` has read: the records of a page, and one more if there are more. */
export type ReadPastPage = {
  /** The bodies, joined by commas. */
  readonly items: Uint8Array
  /** How many there are. A version without a body is damaged. */
  readonly bodies: number
  /** All positions in hex, without separators. */
  readonly positions: string
  readonly checksums: string
  readonly lengths: string
  /** Undefined if the customer has never had a record of the kind. */
  readonly keptSince: bigint | undefined
}

/**
 * The page of the past, verified, because no scan looks for damage in replaced versions. Throws a
 * StoreDamaged for a body that is missing, or is not as it was stored, and a PastUnknown for a
 * time before the customer's records of the kind are kept.
 */
export function verifiedPastPage(
  kind: string,
  tenant: string,
  { items, bodies, positions, checksums, lengths, keptSince }: ReadPastPage,
  { limit, asOf }: Pick<PastSelection, 'limit' | 'asOf'>,
): PageRows {
  if (keptSince !== undefined && asOf < keptSince) throw new PastUnknown(kind, keptSince)
  const found = positions.length / (2 * POSITION_BYTES)
  const damaged = bodies === 0 ? [] : damagedIds(tenant, items, { checksums, lengths })
  if (bodies !== found || damaged.length > 0) {
    throw new StoreDamaged(
      `${kind}: a version of ${damaged[0] ?? 'a record'} is not as it was stored; restore a backup`,
    )
  }
  const rows = Math.min(found, limit)
  const more = found > limit
  // The record that is one too many, with the comma before it.
  const extra = more ? Number(lengths.slice(lengths.lastIndexOf(',') + 1)) + 1 : 0
  const end = rows * 2 * POSITION_BYTES
  const last = positions.slice(end - 2 * POSITION_BYTES, end)
  return {
    items: items.subarray(0, items.length - extra),
    rows,
    last: rows === 0 ? undefined : Buffer.from(last, 'hex'),
    more,
  }
}
