import { kinds } from '../kinds/kinds.ts'
import { mayRead, type Session } from '../session/console-session.ts'
import { readPage } from './record-pages.ts'
import { requestJson } from './send-request.ts'

/** A record or a fee that a search has found. */
export type Hit = {
  readonly kind: string
  readonly id: string
  readonly customer_id: string
  readonly at: string
  readonly matched: string
}

export type Found = { readonly hits: readonly Hit[]; readonly more: boolean }

/** Finds records and fees by an identifier. Staff search all customers whom they may see. */
export async function find(session: Session, text: string, signal: AbortSignal): Promise<Found> {
  if (!session.isStaff) return findOwn(session, text, signal)
  const path = `/ingest/v1/search?${new URLSearchParams({ q: text })}`
  const page: SearchPage = await requestJson(session, path, { signal })
  return { hits: page.hits, more: page.next_page_cursor !== undefined }
}

type SearchPage = { readonly hits: readonly Hit[]; readonly next_page_cursor?: string }

/** A customer's API has no search, so each list is filtered by each identifier that it takes. */
async function findOwn(session: Session, text: string, signal: AbortSignal): Promise<Found> {
  const customerId = session.customerId ?? ''
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
  const tries = kinds
    .filter(({ scope }) => mayRead(session, scope))
    .flatMap((kind) =>
      kind.finders
        .filter(({ takes }) => takes === (isUuid ? 'uuid' : 'text') || takes === 'any')
        .map(async ({ filter, matched }): Promise<Found> => {
          const query = new URLSearchParams({ [filter]: text, limit: '20' })
          const { records, next } = await readPage(session, { kind, customerId, query }, { signal })
          const hits = records.map((record) => ({
            kind: kind.name,
            id: record.id,
            customer_id: customerId,
            matched,
            at: String(record[kind.orderBy]),
          }))
          return { hits, more: next !== undefined }
        }),
    )
  const found = await Promise.all(tries)
  const hits = found.flatMap(({ hits: own }) => own)
  const distinct = [...new Map(hits.map((hit) => [`${hit.kind} ${hit.id}`, hit])).values()]
  return {
    hits: distinct.slice(0, 20),
    more: distinct.length > 20 || found.some(({ more }) => more),
  }
}
