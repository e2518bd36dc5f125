import type { Tenant } from '../../contract/principal.ts'
import type { Resource } from '../../contract/resource.ts'
import { pageBuffers } from '../../platform/lent-buffers.ts'
import type { Dialect } from '../dialect.ts'
import { bodyChecksums } from '../integrity/checksum.ts'
import { POSITION_BYTES } from '../position.ts'
import { type PastSelection, PastUnknown } from '../records/history.ts'
import type { PageRows } from '../records/page.ts'
import type { OperatorRecords } from '../records.ts'
import { bytes, type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'
import type { Reads } from '../session.ts'
import { StoreDamaged } from '../unavailable.ts'
import { type PastView, pastPageQuery } from './past-page-query.ts'

/** Reads the row of a past page, as `pastPageQuery` has it. */
export type ReadPastRow = (asked: AskedPastPage) => Promise<NamedRow>

export type AskedPastPage = {
  readonly resource: Resource
  readonly tenant: Tenant
  readonly view: PastView
  readonly selection: PastSelection
}

/** Reads a page with a statement. */
export const pastRowReader =
  ({ rows }: Reads, dialect: Dialect): ReadPastRow =>
  async ({ resource, tenant, view, selection }) => {
    const query = pastPageQuery(resource, { tenant, view }, selection, dialect)
    const [row = {}] = await rows({ ...query, longText: 'items' })
    return row
  }

/**
 * Reads pages of the past. Replaced versions are compared with their checksums, because no scan
 * reads those: a body that is missing, or is not as it was stored, is a StoreDamaged.
 */
export const openPastPages = (readRow: ReadPastRow): Pick<OperatorRecords, 'pageAsOf'> => ({
  pageAsOf: async (resource, tenant, view, selection) => {
    const row = await readRow({ resource, tenant, view, selection })
    const keptSince = optionalWhole(row, 'kept_since')
    if (keptSince !== undefined && selection.asOf < keptSince) {
      throw new PastUnknown(resource.kind, keptSince)
    }
    const found = Number(whole(row, 'found'))
    if (found === 0) return NO_ROWS
    const items = row.items === null ? NO_ITEMS : bytes(row, 'items')
    const lengths = (optionalText(row, 'lengths') ?? '').split(',').map(Number)
    const isComplete = Number(whole(row, 'bodies')) === found
    const isCompared = isComplete && whole(row, 'replaced') > 0n
    const damaged = isCompared ? damagedIds(tenant, items, lengths, row) : []
    if (!isComplete || damaged.length > 0) {
      throw new StoreDamaged(
        `${resource.kind}: a version of ${damaged[0] ?? 'a record'} is not as it was stored; restore a backup`,
      )
    }
    const more = found > selection.limit
    // The record that is one too many, with the comma before it.
    const extra = more ? (lengths.at(-1) ?? 0) + 1 : 0
    const positions = text(row, 'last_positions')
    const end = positions.length - (more ? POSITION_DIGITS : 0)
    return {
      items: items.subarray(0, items.length - extra),
      release: () => pageBuffers.takeBack(items),
      rows: more ? selection.limit : found,
      last: Buffer.from(positions.slice(end - POSITION_DIGITS, end), 'hex'),
      more,
    }
  },
})

const NO_ITEMS = new Uint8Array(0)
const NO_ROWS: PageRows = { items: NO_ITEMS, rows: 0, last: undefined, more: false }

const POSITION_DIGITS = 2 * POSITION_BYTES

/**
 * The ids of the replaced versions of a page that do not match their checksums; empty text for an
 * id that cannot be read.
 */
function damagedIds(
  customerId: string,
  items: Uint8Array,
  lengths: readonly number[],
  row: NamedRow,
): readonly string[] {
  // Empty for a version that is current.
  const expected = text(row, 'checksums').split(',')
  const damaged: string[] = []
  const checksumOf = bodyChecksums(customerId)
  let start = 0
  for (const [at, length] of lengths.entries()) {
    const checksum = expected[at]
    const body = items.subarray(start, start + length)
    // A comma separates two bodies.
    start += length + 1
    if (checksum !== '' && checksumOf(body) !== Number(checksum)) damaged.push(idOf(body))
  }
  return damaged
}

const idOf = (body: Uint8Array): string =>
  /^\{"id":"([0-9a-f-]{36})"/.exec(Buffer.from(body.subarray(0, 50)).toString('latin1'))?.[1] ?? ''
