import type { Resource } from '../../contract/resource.ts'
import type { Dialect } from '../dialect.ts'
import { bodyChecksums } from '../integrity/checksum.ts'
import { POSITION_BYTES } from '../position.ts'
import { type PastSelection, PastUnknown } from '../records/history.ts'
import type { PageRows } from '../records/page.ts'
import type { OperatorRecords } from '../records.ts'
import { bytes, type NamedRow, optionalText, optionalWhole, whole } from '../row.ts'
import type { Reads } from '../session.ts'
import { StoreDamaged } from '../unavailable.ts'
import { pastPageQuery } from './past-page-query.ts'

/**
 * Reads pages of the past. Each is compared with its checksums, because no scan reads replaced
 * versions: a body that is missing, or is not as it was stored, is a StoreDamaged.
 */
export const openPastPages = (
  { rows }: Reads,
  dialect: Dialect,
): Pick<OperatorRecords, 'pageAsOf'> => ({
  pageAsOf: async (resource, tenant, view, selection) => {
    const query = pastPageQuery(resource, { tenant, view }, selection, dialect)
    const [row = {}] = await rows({ ...query, longText: 'items' })
    const keptSince = optionalWhole(row, 'kept_since')
    if (keptSince !== undefined && selection.asOf < keptSince) {
      throw new PastUnknown(resource.kind, keptSince)
    }
    return readPage(resource, tenant, row, selection)
  },
})

function readPage(
  { kind }: Resource,
  tenant: string,
  row: NamedRow,
  { limit }: Pick<PastSelection, 'limit'>,
): PageRows {
  const items = row.items === null ? NO_ITEMS : bytes(row, 'items')
  const [positions = '', checksums = '', lengths = ''] = columns.map((column) =>
    optionalText(row, column),
  )
  const bodies = whole(row, 'bodies')
  const found = positions.length / (2 * POSITION_BYTES)
  const damaged = bodies === 0n ? [] : damagedIds(tenant, items, checksums, lengths)
  if (Number(bodies) !== found || damaged.length > 0) {
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

const NO_ITEMS = new Uint8Array(0)

const columns = ['positions', 'checksums', 'lengths'] as const

/**
 * The ids of the bodies of a page that do not match their checksums; empty text for an id that
 * cannot be read.
 */
function damagedIds(
  customerId: string,
  items: Uint8Array,
  checksums: string,
  lengths: string,
): readonly string[] {
  const expected = checksums.split(',').map(Number)
  const damaged: string[] = []
  const checksumOf = bodyChecksums(customerId)
  let start = 0
  for (const [at, length] of lengths.split(',').map(Number).entries()) {
    const body = items.subarray(start, start + length)
    // A comma separates two bodies.
    start += length + 1
    if (checksumOf(body) !== expected[at]) damaged.push(idOf(body))
  }
  return damaged
}

const idOf = (body: Uint8Array): string =>
  /^\{"id":"([0-9a-f-]{36})"/.exec(Buffer.from(body.subarray(0, 50)).toString('latin1'))?.[1] ?? ''
