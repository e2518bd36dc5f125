import { hash } from 'node:crypto'
import type { ListOperation } from '../contract/operation.ts'
import type { Principal } from '../contract/principal.ts'
import type { Page, Selection } from '../store/store.ts'
import { type CursorKeys, openCursor, sealCursor } from './cursor.ts'
import type { Answer } from './exchange.ts'
import { invalidParameters } from './query.ts'
import type { ListInput } from './validate.ts'

/** The selection with its cursor opened. A cursor that was not given out for just this walk is a 400. */
export function readPage(
  operation: ListOperation,
  principal: Principal,
  input: ListInput,
  keys: CursorKeys,
): Selection {
  if (input.cursor === undefined) return { ...input.selection, after: undefined }
  const after = openCursor(keys, input.cursor, boundTo(operation, principal, input))
  if (after === undefined) {
    throw invalidParameters([{ parameter: 'page_cursor', reason: 'token cannot be parsed' }])
  }
  return { ...input.selection, after }
}

/** The envelope around the stored bytes; `next_page_cursor` only where rows remain. */
export function closePage(
  operation: ListOperation,
  principal: Principal,
  input: ListInput,
  page: Page,
  keys: CursorKeys,
): Answer {
  const next = page.more && page.last !== undefined ? page.last : undefined
  const tail =
    next === undefined
      ? ']}'
      : `],"next_page_cursor":"${sealCursor(keys, next, boundTo(operation, principal, input))}"}`
  return {
    status: 200,
    headers: { 'cache-control': 'private, no-cache', etag: etagOf(page) },
    body: Buffer.concat([Buffer.from(`{"${operation.envelope}":[`), page.items, Buffer.from(tail)]),
  }
}

/**
 * A weak tag over the records and whether more follow. The cursor is left out: it is sealed anew each time and means
 * the same.
 */
const etagOf = (page: Page): string =>
  `W/"${hash('sha1', page.items, 'base64url')}${page.more ? '+' : ''}"`

const boundTo = (operation: ListOperation, principal: Principal, input: ListInput) => [
  principal.tenant,
  operation.id,
  input.boundTo,
]
