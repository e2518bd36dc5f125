import type { Kind, RecordData } from '../kinds/kind.ts'
import type { Session } from '../session/console-session.ts'
import { request, requestJson } from './send-request.ts'

/** Whose list, with which of its parameters. `customerId` is empty for all customers. */
export type ListRequest = {
  readonly kind: Kind
  readonly customerId: string
  readonly query: URLSearchParams
}

export type Page = {
  readonly records: readonly RecordData[]
  readonly next: string | undefined
  /** When the page was true, where the server says so. */
  readonly asOf: string | undefined
}

/** The path and the query of a page, as curl would send them. */
export function pagePath(session: Session, { kind, customerId, query }: ListRequest): string {
  const sent = new URLSearchParams(query)
  if (!session.isStaff) {
    for (const name of ['as_of', 'view', 'purpose']) sent.delete(name)
    if (kind.name === 'statements') sent.set('customer_id', customerId)
    return pathWith(kind.path, sent)
  }
  return pathWith(`/ingest/v1/customers/${pathSegment(customerId)}/${kind.name}`, sent)
}

/** Dots alone would be taken for a way up, also percent-encoded. */
const pathSegment = (text: string): string =>
  /^\.{1,2}$/.test(text) ? `${text}%20` : encodeURIComponent(text)

export const pathWith = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query}`

type PageOptions = {
  readonly signal?: AbortSignal | undefined
  readonly reason?: string | undefined
}

export async function readPage(
  session: Session,
  wanted: ListRequest,
  options: PageOptions = {},
): Promise<Page> {
  const page = await readUnmarked(session, wanted, options)
  if (wanted.query.get('include_deleted') !== 'true') return page
  return { ...page, records: await markDeleted(session, wanted, page, options) }
}

async function readUnmarked(
  session: Session,
  wanted: ListRequest,
  options: PageOptions,
): Promise<Page> {
  const response = await request(session, pagePath(session, wanted), options)
  const body: Readonly<Record<string, unknown>> = await response.json()
  const next = body.next_page_cursor
  return {
    records: (body[wanted.kind.envelope] ?? []) as readonly RecordData[],
    next: typeof next === 'string' && next !== '' ? next : undefined,
    asOf: response.headers.get('as-of') ?? undefined,
  }
}

/**
 * Marks the deleted records of a page. Lists show them like the others. So the page is read again
 * by its ids, without the deleted ones and as of the same instant.
 */
async function markDeleted(
  session: Session,
  { kind, customerId }: ListRequest,
  { records, asOf }: Page,
  { signal }: PageOptions,
): Promise<readonly RecordData[]> {
  const live = new Set<string>()
  for (let from = 0; from < records.length; from += IDS_MAX) {
    const ids = records.slice(from, from + IDS_MAX).map(({ id }) => id)
    const query = new URLSearchParams({ limit: String(IDS_MAX) })
    for (const id of ids) query.append(kind.idFilter, id)
    if (session.isStaff && asOf !== undefined) query.set('as_of', asOf)
    const page = await readPage(session, { kind, customerId, query }, { signal })
    for (const { id } of page.records) live.add(id)
  }
  return records.map((record) => (live.has(record.id) ? record : deleted(record)))
}

const deleted = (record: RecordData): RecordData => ({ ...record, is_deleted: true })

/** How many ids a list of fiat accounts takes. */
const IDS_MAX = 100

/** A record as its customer's list shows it. Undefined if there is none, or was none then. */
export async function findListed(
  session: Session,
  wanted: { readonly kind: Kind; readonly id: string; readonly customerId: string },
  asOf: string,
  signal?: AbortSignal,
): Promise<RecordData | undefined> {
  const { kind, id, customerId } = wanted
  const read = async (more: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams({
      [kind.idFilter]: id,
      ...(asOf !== '' && { as_of: asOf }),
      ...more,
    })
    const { records } = await readUnmarked(session, { kind, customerId, query }, { signal })
    return records[0]
  }
  if (kind.hasDeleted !== true) return await read({})
  // Beside each other, because a phone waits long for each answer.
  const [record, live] = await Promise.all([read({ include_deleted: 'true' }), read({})])
  return record === undefined || live !== undefined ? record : deleted(record)
}

/** A record in full. A customer's client reads it from its own API. */
export function revealRecord(
  session: Session,
  { name, path }: Kind,
  id: string,
  options: PageOptions & { readonly asOf: string },
): Promise<RecordData> {
  if (!session.isStaff) {
    return requestJson(session, `${path}/${pathSegment(id)}?include_deleted=true`, options)
  }
  const query = new URLSearchParams(options.asOf === '' ? {} : { as_of: options.asOf })
  return requestJson(session, pathWith(`/ingest/v1/${name}/${pathSegment(id)}`, query), options)
}

/** Who stored a version. */
export type Origin = Readonly<Record<string, string | number>>

export type Version = {
  readonly stored_at: string
  readonly replaced_at?: string
  readonly origin: Origin
  /** Whether this version is the record's withdrawal. */
  readonly withdrawn?: true
  readonly changed: readonly string[]
  readonly record: RecordData
}

export type History = {
  readonly versions: readonly Version[]
  /** Since when the store keeps the customer's records of the kind. */
  readonly kept_since?: string
  readonly next_page_cursor?: string
}

export function readHistory(
  session: Session,
  { kind, id }: RecordPath,
  { cursor, isFull }: { readonly cursor: string | undefined; readonly isFull: boolean },
  options: PageOptions = {},
): Promise<History> {
  // What is not shown is not asked for either: the log has an entry for each full view.
  const view = kind.isMasked === true && !isFull ? { view: 'customer' } : {}
  return requestJson(session, pathOfPart({ kind, id }, 'history', cursor, view), options)
}

/** Somebody saw the record in full, or took it away in a file. */
export type Read = {
  readonly at: string
  readonly action: string
  readonly client_id?: string
  readonly issuer?: string
  readonly subject?: string
  readonly reason?: string
  /** `record` is this account or its history; a `list` has so many `rows`. */
  readonly shown: 'record' | 'list'
  readonly rows?: number
}

export function readReads(
  session: Session,
  record: RecordPath,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly reads: readonly Read[]; readonly next_page_cursor?: string }> {
  return requestJson(session, pathOfPart(record, 'reads', cursor), { signal })
}

type RecordPath = { readonly kind: Kind; readonly id: string }

const pathOfPart = (
  { kind, id }: RecordPath,
  part: string,
  cursor: string | undefined,
  more: Readonly<Record<string, string>> = {},
): string => {
  const query = { ...more, ...(cursor !== undefined && { page_cursor: cursor }) }
  return pathWith(`/ingest/v1/${kind.name}/${pathSegment(id)}/${part}`, new URLSearchParams(query))
}
