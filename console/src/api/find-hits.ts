import type { RecordData } from '../kinds/kind.ts'
import { kinds } from '../kinds/kinds.ts'
import { mayRead, type Session } from '../session/console-session.ts'
import { isUuid } from '../values/ids.ts'
import { readPage } from './record-pages.ts'
import { requestJson } from './send-request.ts'

/** A record or a fee that a search has found. */
export type Hit = {
  readonly kind: string
  readonly id: string
  readonly customer_id: string
  readonly at: string
  readonly matched: string
  /** The record as a list shows it; a fee has none. */
  readonly record?: RecordData
}

export type FoundCustomer = { readonly id: string; readonly name?: string }

export type Found = {
  readonly hits: readonly Hit[]
  readonly customers: readonly FoundCustomer[]
  readonly more: boolean
  /** The cursor of the next page, where the server has pages. */
  readonly next?: string | undefined
}

/** Finds records and fees by an identifier. Staff search all customers whom they may see. */
export async function find(
  session: Session,
  text: string,
  signal: AbortSignal,
  cursor?: string,
): Promise<Found> {
  if (!session.isStaff) return findOwn(session, text, signal)
  const query = { q: text, ...(cursor !== undefined && { page_cursor: cursor }) }
  const path = `/ingest/v1/search?${new URLSearchParams(query)}`
  const page: SearchPage = await requestJson(session, path, { signal })
  const { hits, customers = [], next_page_cursor: next } = page
  return { hits, customers, more: next !== undefined, next }
}

type SearchPage = {
  readonly hits: readonly Hit[]
  readonly customers?: readonly FoundCustomer[]
  readonly next_page_cursor?: string
}

/** A customer's API has no search, so each list is filtered by each identifier that it takes. */
async function findOwn(session: Session, text: string, signal: AbortSignal): Promise<Found> {
  const customerId = session.customerId ?? ''
  const takes = isUuid(text) ? 'uuid' : 'text'
  const tries = kinds
    .filter(({ scope }) => mayRead(session, scope))
    .flatMap((kind) =>
      kind.finders
        .filter(({ takes: own }) => own === takes || own === 'any')
        .map(async ({ filter, matched }): Promise<Found> => {
          const query = new URLSearchParams({ [filter]: text, limit: '20' })
          const { records, next } = await readPage(session, { kind, customerId, query }, { signal })
          const hits = records.map((record) => ({
            kind: kind.name,
            id: record.id,
            customer_id: customerId,
            matched,
            at: String(record[kind.orderBy]),
            record,
          }))
          return { hits, customers: [], more: next !== undefined }
        }),
    )
  const found = await Promise.all(tries)
  const hits = found.flatMap(({ hits: own }) => own)
  const distinct = [...new Map(hits.map((hit) => [`${hit.kind} ${hit.id}`, hit])).values()]
  return {
    hits: distinct.slice(0, 20),
    customers: [],
    more: distinct.length > 20 || found.some(({ more }) => more),
  }
}
