import { hash } from 'node:crypto'
import type { ListOperation } from '../../contract/operation.ts'
import type { Principal } from '../../contract/principal.ts'
import { invalidParameters, type ParameterFault } from '../../contract/problem.ts'
import type { Answer, Request } from '../../contract/request.ts'
import { openLentBuffers } from '../../platform/lent-buffers.ts'
import { limits } from '../../platform/limits.ts'
import { version } from '../../platform/version.ts'
import type { Page, PageRows, Revision, Selection } from '../../store/records/page.ts'
import { printInstant } from '../../values/instant.ts'
import {
  type Binding,
  type CursorFault,
  type CursorKeys,
  openCursor,
  type Place,
  sealCursor,
} from './cursor.ts'
import type { ListInput } from './validate.ts'

/** The selection with its cursor opened. A cursor that was sealed for anything else is a 400. */
export function openPage(
  operation: ListOperation,
  principal: Principal,
  input: ListInput,
  keys: CursorKeys,
): Selection {
  const place = openAfter(input.cursor, bindingOf(operation, principal, input), keys)
  return { ...input.selection, after: place?.position, notBefore: place?.logPosition }
}

/** The memory to reserve for a page that is not read yet, in bytes. */
export const roomOf = ({ limit }: Pick<Selection, 'limit'>): number =>
  limit * limits.recordBytesReserved

/** The place that a page comes after; undefined for the first page. */
export function openAfter(
  cursor: string | undefined,
  binding: Binding,
  keys: CursorKeys,
): Place | undefined {
  if (cursor === undefined) return undefined
  const place = openCursor(keys, cursor, binding)
  if (typeof place !== 'string') return place
  const sentence = 'page_cursor token cannot be parsed'
  throw invalidParameters([{ parameter: 'page_cursor', ...cursorFaults[place], sentence }])
}

/** Puts the envelope around the stored bytes, with `next_page_cursor` only where rows remain. */
export function closePage(
  operation: ListOperation,
  principal: Principal,
  input: ListInput,
  page: Page,
  etag: string,
  keys: CursorKeys,
): Answer {
  const binding = bindingOf(operation, principal, input)
  const { logPosition } = page
  const { body, sent } = enclose(operation.envelope, page, { logPosition }, binding, keys)
  return { status: 200, headers: pageHeaders(etag, page.revision), body, sent }
}

/** The page in its envelope. `sent` ends the use of the body's memory. */
export function enclose(
  envelope: string,
  page: PageRows,
  readAt: Omit<Place, 'position'>,
  binding: Binding,
  keys: CursorKeys,
): { readonly body: Uint8Array; readonly sent: () => void } {
  const next = page.more && page.last !== undefined ? { position: page.last, ...readAt } : undefined
  const tail =
    next === undefined ? ']}' : `],"next_page_cursor":"${sealCursor(keys, next, binding)}"}`
  const head = `{"${envelope}":[`
  const body = bodies.lend(head.length + page.items.length + tail.length)
  body.write(head, 0, 'latin1')
  body.set(page.items, head.length)
  body.write(tail, head.length + page.items.length, 'latin1')
  page.release?.()
  return { body, sent: () => bodies.takeBack(body) }
}

const bodies = openLentBuffers()

/** `as-of` is when the list last changed: the instant at which the operator finds this page. */
export function pageHeaders(
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
export function etagOf(
  { id }: ListOperation,
  { tenant }: Principal,
  { rawQuery }: Pick<Request, 'rawQuery'>,
  { changedAt, damageMet }: Revision,
  keys: CursorKeys,
): string {
  const what = [version, id, rawQuery, String(changedAt), damageMet, tenant, keys.current().id]
  return `W/"${hash('sha1', JSON.stringify(what), 'base64url')}"`
}

const bindingOf = (
  { id }: ListOperation,
  { tenant }: Principal,
  { selection, filters }: ListInput,
): Binding => ({ tenant, operation: id, order: selection.order, filters })

const cursorFaults: Readonly<Record<CursorFault, Pick<ParameterFault, 'code' | 'reason'>>> = {
  malformed: { code: 'malformed', reason: 'token cannot be parsed' },
  other_list: { code: 'other_list', reason: 'was issued by another list' },
  other_order: { code: 'other_order', reason: 'was issued for the other order' },
  other_filters: { code: 'other_filters', reason: 'was issued for other filters' },
}
