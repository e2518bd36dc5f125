import { pageBuffers } from '@bursar/base'
import type { Resource, Tenant } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { bodyChecksums } from '../integrity/checksum.ts'
import type { RequireOwner } from '../integrity/owners.ts'
import { POSITION_BYTES, positionId } from '../position.ts'
import { type PastSelection, PastUnknown } from '../records/history.ts'
import type { PageRows } from '../records/page.ts'
import type { OperatorRecords } from '../records.ts'
import { bytes, type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'
import type { Seals } from '../sealing/seals.ts'
import type { Reads } from '../session.ts'
import { StoreDamaged } from '../unavailable.ts'
import { type PastView, pastPageQuery, showsKeyed } from './past-page-query.ts'

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
export const openPastPages = (
  readRow: ReadPastRow,
  seals: Pick<Seals, 'openInTurn'>,
  requireOwner: RequireOwner,
): Pick<OperatorRecords, 'pageAsOf'> => ({
  pageAsOf: async (resource, tenant, view, selection) => {
    const row = await readRow({ resource, tenant, view, selection })
    await requireOwner(tenant, optionalText(row, 'owner'))
    const keptSince = optionalWhole(row, 'kept_since')
    if (keptSince !== undefined && selection.asOf < keptSince) {
      throw new PastUnknown(resource.kind, keptSince)
    }
    const found = Number(whole(row, 'found'))
    if (found === 0) return NO_ROWS
    const stored = row.items === null ? NO_ITEMS : bytes(row, 'items')
    const storedLengths = (optionalText(row, 'lengths') ?? '').split(',').map(Number)
    const isComplete = Number(whole(row, 'bodies')) === found
    if (!isComplete) throw notAsStored(resource)
    const isKeyed = showsKeyed(resource, view)
    const isCompared = !isKeyed && whole(row, 'replaced') > 0n
    const [damaged] = isCompared ? damagedIds(tenant, stored, storedLengths, row) : []
    if (damaged !== undefined) throw notAsStored(resource, damaged)
    const { items, lengths } = isKeyed
      ? await openPage(resource, tenant, bodiesOf(stored, storedLengths), row, seals)
      : { items: stored, lengths: storedLengths }
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

const notAsStored = ({ kind }: Resource, id = 'a record') =>
  new StoreDamaged(`${kind}: a version of ${id} is not as it was stored; restore a backup`)

/** Opens the bodies of a page, and joins them again. */
async function openPage(
  resource: Resource,
  customerId: string,
  bodies: readonly Uint8Array[],
  row: NamedRow,
  { openInTurn }: Pick<Seals, 'openInTurn'>,
): Promise<{ readonly items: Uint8Array; readonly lengths: readonly number[] }> {
  const checksums = text(row, 'checksums').split(',')
  const positions = text(row, 'positions').split(',')
  const opened: string[] = []
  for (const [at, bytes] of bodies.entries()) {
    const id = positionId(Buffer.from(positions[at] ?? '', 'hex'))
    const body = Buffer.from(bytes).toString()
    const found = await openInTurn(resource, {
      customerId,
      id,
      body,
      checksum: Number(checksums[at]),
    })
    if ('fault' in found) throw notAsStored(resource, id)
    opened.push(found.body)
  }
  return {
    items: Buffer.from(opened.join(',')),
    lengths: opened.map((body) => Buffer.byteLength(body)),
  }
}

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
  for (const [at, body] of bodiesOf(items, lengths).entries()) {
    const checksum = expected[at]
    if (checksum !== '' && checksumOf(body) !== Number(checksum)) damaged.push(idOf(body))
  }
  return damaged
}

/** The bodies of a page, between which are commas. */
function bodiesOf(items: Uint8Array, lengths: readonly number[]): readonly Uint8Array[] {
  let start = 0
  return lengths.map((length) => {
    const body = items.subarray(start, start + length)
    start += length + 1
    return body
  })
}

const idOf = (body: Uint8Array): string =>
  /^\{"id":"([0-9a-f-]{36})"/.exec(Buffer.from(body.subarray(0, 50)).toString('latin1'))?.[1] ?? ''
