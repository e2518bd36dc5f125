import type { Kind, RecordData } from '../kinds/kind.ts'
import type { Session } from '../session/console-session.ts'
import { request, requestJson } from './send-request.ts'

/** Whose list, with which of its parameters. */
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

const pathWith = (path: string, query: URLSearchParams): string =>
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
  const response = await request(session, pagePath(session, wanted), options)
  const body: Readonly<Record<string, unknown>> = await response.json()
  const next = body.next_page_cursor
  const records = (body[wanted.kind.envelope] ?? []) as readonly RecordData[]
  const asOf = response.headers.get('as-of') ?? undefined
  const hasDeleted = wanted.query.get('include_deleted') === 'true'
  return {
    records: hasDeleted ? await markDeleted(session, wanted, records, asOf, options) : records,
    next: typeof next === 'string' && next !== '' ? next : undefined,
    asOf,
  }
}

/**
 * Marks the deleted records of a page. Lists show them like the others. So the page is read again
 * by its ids, without the deleted ones and as of the same instant.
 */
async function markDeleted(
  session: Session,
  { kind, customerId }: ListRequest,
  records: readonly RecordData[],
  asOf: string | undefined,
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
  return records.map((record) => (live.has(record.id) ? record : { ...record, is_deleted: true }))
}

/** How many ids a list of fiat accounts takes. */
const IDS_MAX = 100

/** Every page of a list, in pages of the largest size. For staff, all are of one instant. */
export async function* readAllPages(
  session: Session,
  { kind, customerId, query }: ListRequest,
  options: PageOptions,
): AsyncGenerator<readonly RecordData[]> {
  let cursor: string | undefined
  do {
    const part = new URLSearchParams(query)
    part.set('limit', '1000')
    if (cursor === undefined) part.delete('page_cursor')
    else part.set('page_cursor', cursor)
    const page = await readPage(session, { kind, customerId, query: part }, options)
    yield page.records
    cursor = page.next
  } while (cursor !== undefined)
}

/** A record as its customer's list shows it. Undefined if there is none, or was none then. */
export async function findListed(
  session: Session,
  wanted: { readonly kind: Kind; readonly id: string; readonly customerId: string },
  asOf: string,
  signal?: AbortSignal,
): Promise<RecordData | undefined> {
  const { kind, id, customerId } = wanted
  const query = new URLSearchParams({ [kind.idFilter]: id, ...(asOf !== '' && { as_of: asOf }) })
  if (kind.hasDeleted === true) query.set('include_deleted', 'true')
  const page = await readPage(session, { kind, customerId, query }, { signal })
  return page.records[0]
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

export type Version = {
  readonly stored_at: string
  readonly replaced_at?: string
  readonly origin: Readonly<Record<string, string | number>>
  /** Whether this version is the record's withdrawal. */
  readonly withdrawn?: true
  readonly changed: readonly string[]
  readonly record: RecordData
}

export function readHistory(
  session: Session,
  kind: Kind,
  id: string,
  cursor: string | undefined,
  options: PageOptions = {},
): Promise<{ readonly versions: readonly Version[]; readonly next_page_cursor?: string }> {
  const query = new URLSearchParams(cursor === undefined ? {} : { page_cursor: cursor })
  return requestJson(
    session,
    pathWith(`/ingest/v1/${kind.name}/${pathSegment(id)}/history`, query),
    options,
  )
}
