import type { Resource } from '../../../contract/resource.ts'
import { bodyChecksum } from '../../integrity/checksum.ts'
import type { Page } from '../../records/page.ts'
import { StoreDamaged } from '../../unavailable.ts'
import { type NamedRow, optionalWhole, text } from '../row.ts'

/** What a page of the past must know of its request. */
type Asked = {
  readonly tenant: string
  readonly view: 'customer' | 'full'
  readonly limit: number
}

/**
 * The page from the rows of `pastPageQuery`. A replaced version is stored unmasked only, so its
 * masked form is made again. Throws a StoreDamaged for a body that is not as it was stored.
 */
export function readPastPage(
  resource: Resource,
  rows: readonly NamedRow[],
  { tenant, view, limit }: Asked,
): Page {
  const shown = rows.slice(0, limit)
  const bodies = shown.map((row) => bodyOf(resource, row, tenant, view))
  const last = shown.at(-1)?.position
  return {
    items: Buffer.from(bodies.join(',')),
    rows: shown.length,
    last: last instanceof Uint8Array ? last : undefined,
    more: rows.length > limit,
    revision: '0',
  }
}

function bodyOf(
  { kind, mask }: Resource,
  row: NamedRow,
  tenant: string,
  view: Asked['view'],
): string {
  if (row.body === null) throw damaged(kind, 'is missing')
  const body = text(row, 'body')
  const checksum = optionalWhole(row, 'checksum')
  if (checksum !== undefined && Number(checksum) !== bodyChecksum(tenant, body)) {
    throw damaged(kind, 'does not match its checksum')
  }
  const isPast = row.is_past === true || row.is_past === 1n
  if (!isPast || view === 'full' || mask === undefined) return body
  return JSON.stringify(mask(JSON.parse(body)))
}

const damaged = (kind: string, fault: string) =>
  new StoreDamaged(`${kind}: the body of a version ${fault}; restore a backup`)
