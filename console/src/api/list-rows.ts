import { isWideOnly, wideFilters } from '../kinds/filters.ts'
import type { Row } from '../kinds/kind.ts'
import type { Session } from '../session/console-session.ts'
import { type ListRequest, type Page, pagePath, pathWith, readPage } from './record-pages.ts'
import { requestJson } from './send-request.ts'

export type RowPage = {
  readonly rows: readonly Row[]
  readonly next: string | undefined
  readonly asOf: string | undefined
}

/**
 * Whether the list over all customers answers it, for one customer or for all. A customer's own
 * list has other filters, past instants and the view in full.
 */
export function isWide(session: Session, { kind, customerId, query }: ListRequest): boolean {
  if (!session.isStaff) return false
  return customerId === '' || [...query.keys()].some((name) => isWideOnly(kind, name))
}

/** The path and the query of a page, as curl would send them. */
export function rowsPath(session: Session, wanted: ListRequest): string {
  if (!isWide(session, wanted)) return pagePath(session, wanted)
  const { kind, customerId, query } = wanted
  const taken = new Set(wideFilters(kind).map(({ name }) => name))
  const sent = new URLSearchParams()
  if (customerId !== '') sent.set('customer_id', customerId)
  for (const [name, value] of query) {
    const isPaging = ['order', 'order_by', 'limit', 'page_cursor', 'purpose'].includes(name)
    if (taken.has(name) || isPaging) sent.append(name, value)
  }
  return pathWith(`/ingest/v1/${kind.name}`, sent)
}

type Options = { readonly signal?: AbortSignal; readonly reason?: string | undefined }

export async function readRows(
  session: Session,
  wanted: ListRequest,
  options: Options = {},
): Promise<RowPage> {
  if (!isWide(session, wanted)) return rowsOf(await readPage(session, wanted, options), wanted)
  const page = await readWidePage(session, wanted, options)
  return {
    rows: page.items.map(({ customer_id: customerId, record, shortfall }) => ({
      customerId,
      record,
      shortfall,
    })),
    next: page.next_page_cursor || undefined,
    asOf: undefined,
  }
}

const PAGES_MAX = 10

/** A page may be empty though others follow, so the next ones are read until one has a row. */
async function readWidePage(
  session: Session,
  wanted: ListRequest,
  options: Options,
): Promise<WidePage> {
  const query = new URLSearchParams(wanted.query)
  for (let pages = 1; ; pages += 1) {
    const path = rowsPath(session, { ...wanted, query })
    const page: WidePage = await requestJson(session, path, options)
    const { items, next_page_cursor: next } = page
    if (items.length > 0 || !next || pages === PAGES_MAX) return page
    query.set('page_cursor', next)
  }
}

type WidePage = {
  readonly items: readonly {
    readonly customer_id: string
    readonly record: Row['record']
    readonly shortfall?: string
  }[]
  readonly next_page_cursor?: string
}

const rowsOf = ({ records, next, asOf }: Page, { customerId }: ListRequest): RowPage => ({
  rows: records.map((record) => ({ customerId, record, shortfall: undefined })),
  next,
  asOf,
})

/** Every page of a list, in pages of the largest size. */
export async function* readAllRows(
  session: Session,
  { kind, customerId, query }: ListRequest,
  options: Options,
): AsyncGenerator<readonly Row[]> {
  let cursor: string | undefined
  do {
    const part = new URLSearchParams(query)
    part.set('limit', isWide(session, { kind, customerId, query }) ? '100' : '1000')
    if (cursor === undefined) part.delete('page_cursor')
    else part.set('page_cursor', cursor)
    const page = await readRows(session, { kind, customerId, query: part }, options)
    yield page.rows
    cursor = page.next
  } while (cursor !== undefined)
}
