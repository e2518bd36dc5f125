import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type Clock, limitsOf, type Metrics, printInstant, version } from '@bursar/base'
import {
  echo,
  type GetOperation,
  type ListOperation,
  type Principal,
  pastInstant,
  problem,
  type Request,
  type ReserveAnswer,
  type Tenant,
  type Trace,
  type WorkInput,
} from '@bursar/contract'
import type { Page, Revision, Selection, Store } from '@bursar/records'
import { isMatch, unlessMatched } from '../server/entity-tag.ts'
import type { CursorKeys } from './cursor.ts'
import type { PageCache } from './page-cache.ts'
import { instantOf } from './past-place.ts'
import type { Reading } from './reading.ts'

const limits = limitsOf({
  /** Memory for a record of a page before the page is read. Nearly all have fewer bytes. */
  recordBytesReserved: 2048,
})

type ListDeps = {
  readonly store: Pick<Store, 'customers'>
  readonly cursorKeys: CursorKeys
  readonly pages: PageCache
  readonly reserveAnswer: ReserveAnswer
  readonly metrics: Metrics
  readonly clock: Clock
}

/** Reads one record of the caller. */
export function readRecord(
  { view, filter, unknownId }: GetOperation,
  { store, clock }: Pick<ListDeps, 'store' | 'clock'>,
): Reading<Principal> {
  const flags = Object.keys(filter)
  const readPast = async (tenant: Tenant, id: string, includeDeleted: boolean, asOf: bigint) => {
    const anyOf = [{ column: 'id', values: [id] }]
    const selection = { ...onlyOne, anyOf, includeDeleted, asOf }
    const page = await store.customers.pageAsOf(tenant, view, selection)
    const body = page.rows === 0 ? undefined : Buffer.from(page.items).toString()
    page.release?.()
    return body
  }
  return {
    read: async ({ caller, parameters, trace }) => {
      const id = String(parameters.get('id'))
      const includeDeleted = flags.some((flag) => parameters.get(flag) === true)
      const asOf = pastInstant(parameters.get('as_of'), clock)
      const body =
        asOf === undefined
          ? await store.customers.get(caller.tenant, view, id, includeDeleted)
          : await readPast(caller.tenant, id, includeDeleted, asOf)
      if (body === undefined) throw problem('notFound', unknownId(echo(id)))
      trace.rows = 1
      return { body }
    },
  }
}

const onlyOne = {
  from: undefined,
  before: undefined,
  after: undefined,
  order: 'ASC',
  limit: 1,
} as const

/**
 * Reads a page of the caller's records. A page that was kept is answered while its tag is that of
 * the current revision, and so is a 304. Neither reads the page. A page after a cursor is always
 * read: the cursor's key may be revoked, and a replica may be behind the page before. A page of
 * the past has no tag, and no use for one: it never changes.
 */
export function readList(
  list: ListOperation,
  { store, cursorKeys, pages, reserveAnswer, metrics, clock }: ListDeps,
): Reading<Principal> {
  const keyOf = ({ tenant }: Principal, { rawQuery }: Request) => `${list.id} ${rawQuery} ${tenant}`
  const revisionOf = ({ tenant }: Principal) => store.customers.revision(tenant, list.view.resource)
  return {
    list,
    recall: async (caller, request) => {
      const kept = pages.find(keyOf(caller, request))
      const etag = kept && etagOf(list, caller, request, await revisionOf(caller), cursorKeys)
      const isCurrent = kept !== undefined && kept.answer.headers.etag === etag
      metrics.count('bursar_kept_pages_total', { result: isCurrent ? 'hit' : 'miss' })
      if (!isCurrent) return undefined
      const { trace } = request
      trace.rows = kept.rows
      if (kept.ignored !== undefined) trace.ignoredParameters = kept.ignored
      if (kept.joined !== undefined) trace.joinedParameters = kept.joined
      const answer = unlessMatched(kept.answer, request.headers['if-none-match'])
      await reserveAnswer(caller.clientId, answer.body?.length ?? 0, trace)
      return answer
    },
    read: async ({ caller, parameters, list: input, place, headers, trace, request }) => {
      assert(input !== undefined, 'the pipeline reads the parameters of a list')
      const isOwn = input.namedTenants.every((named) => named === caller.tenant)
      const asOf = instantOf(pastInstant(parameters.get('as_of'), clock), place)
      if (asOf !== undefined) {
        const selection = { ...input.selection, after: place?.position, asOf }
        if (isOwn) await reserveAnswer(caller.clientId, roomOf(selection), trace)
        const page = isOwn
          ? await store.customers.pageAsOf(caller.tenant, list.view, selection)
          : emptyPage
        noteRows(trace, list, parameters, page)
        return { page: { ...page, asOf }, headers: { 'as-of': printInstant(asOf) } }
      }
      const mayKeep = isOwn && place === undefined
      const key = keyOf(caller, request)
      const heldTag = headers['if-none-match']
      if (mayKeep && heldTag !== undefined && pages.find(key) === undefined) {
        const revision = await revisionOf(caller)
        const etag = etagOf(list, caller, request, revision, cursorKeys)
        // The pipeline answers it with 304, since the request names the tag.
        if (isMatch(etag, heldTag)) return { headers: pageHeaders(etag, revision) }
      }
      const after = place?.position
      const selection = { ...input.selection, after, notBefore: place?.changedAt }
      if (isOwn) await reserveAnswer(caller.clientId, roomOf(selection), trace)
      const page = isOwn
        ? await store.customers.page(caller.tenant, list.view, selection)
        : emptyPage
      const { rows, revision } = page
      noteRows(trace, list, parameters, page)
      const etag = etagOf(list, caller, request, revision, cursorKeys)
      return {
        page: { ...page, changedAt: revision.changedAt },
        headers: pageHeaders(etag, revision),
        keep: mayKeep
          ? (answer) => {
              const { ignoredParameters: ignored, joinedParameters: joined } = trace
              pages.keep(key, { answer, rows, ignored, joined })
            }
          : undefined,
      }
    },
  }
}

/** Notes the rows of a page, and why it may have none. */
function noteRows(
  trace: Trace,
  { filter }: ListOperation,
  parameters: WorkInput<Principal>['parameters'],
  { rows }: Pick<Page, 'rows'>,
): void {
  trace.rows = rows
  if (rows > 0) return
  const joined = Object.keys(filter).filter((name) => [parameters.get(name)].flat().some(isJoined))
  if (joined.length > 0) trace.joinedParameters = joined
}

/** Whether a value may be several that a client has put into one, such as `A,B` or `["A"]`. */
function isJoined(value: unknown): boolean {
  if (typeof value !== 'string') return false
  const text = value.trim()
  return (/^[[{]/.test(text) && /[\]}]$/.test(text)) || /[^,],[^,]/.test(value)
}

/** The memory to reserve for a page that is not read yet, in bytes. */
export const roomOf = ({ limit }: Pick<Selection, 'limit'>): number =>
  limit * limits.recordBytesReserved

export const emptyPage: Page = {
  items: new Uint8Array(0),
  rows: 0,
  last: undefined,
  more: false,
  revision: { changedAt: 0n, salt: 0n },
}

/** `as-of` is when the list last changed: the instant at which the operator finds this page. */
function pageHeaders(
  etag: string,
  { changedAt }: Pick<Revision, 'changedAt'>,
): Readonly<Record<string, string>> {
  const headers = { 'cache-control': 'private, no-cache', etag }
  return changedAt === 0n ? headers : { ...headers, 'as-of': printInstant(changedAt) }
}

/**
 * A tag of the request and of what may change in its answer: the program's version, the revision
 * of the tenant's records, and the cursor key, which may be revoked. So it takes no page to make.
 * The tag is weak, because each cursor is sealed anew: the bytes differ, the meaning does not.
 */
function etagOf(
  { id }: ListOperation,
  { tenant }: Principal,
  { rawQuery }: Pick<Request, 'rawQuery'>,
  { changedAt, salt }: Revision,
  keys: CursorKeys,
): string {
  const revision = [String(changedAt), String(salt)]
  const what = [version, id, rawQuery, ...revision, tenant, keys.current().id]
  return `W/"${hash('sha1', JSON.stringify(what), 'base64url')}"`
}
