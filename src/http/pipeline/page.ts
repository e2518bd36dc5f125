import { hash } from 'node:crypto'
import type { ListOperation } from '../../contract/operation.ts'
import type { Principal } from '../../contract/principal.ts'
import type { ParameterFault } from '../../contract/problem.ts'
import type { Answer, Request } from '../../contract/request.ts'
import { openLentBuffers } from '../../platform/lent-buffers.ts'
import { version } from '../../platform/version.ts'
import type { Page, Selection } from '../../store/records.ts'
import {
  type Binding,
  type CursorFault,
  type CursorKeys,
  openCursor,
  sealCursor,
} from './cursor.ts'
import { invalidParameters } from './invalid-parameters.ts'
import type { ListInput } from './validate.ts'

/** The selection with its cursor opened. A cursor that was sealed for anything else is a 400. */
export function openPage(
  operation: ListOperation,
  principal: Principal,
  input: ListInput,
  keys: CursorKeys,
): Selection {
  if (input.cursor === undefined) return { ...input.selection, after: undefined }
  const place = openCursor(keys, input.cursor, bindingOf(operation, principal, input))
  if (typeof place === 'string') {
    const sentence = 'page_cursor token cannot be parsed'
    throw invalidParameters([{ parameter: 'page_cursor', ...cursorFaults[place], sentence }])
  }
  return { ...input.selection, after: place.position, notBefore: place.logPosition }
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
  const next =
    page.more && page.last !== undefined
      ? { position: page.last, logPosition: page.logPosition }
      : undefined
  const tail =
    next === undefined
      ? ']}'
      : `],"next_page_cursor":"${sealCursor(keys, next, bindingOf(operation, principal, input))}"}`
  const head = `{"${operation.envelope}":[`
  const body = bodies.lend(head.length + page.items.length + tail.length)
  body.write(head, 0, 'latin1')
  body.set(page.items, head.length)
  body.write(tail, head.length + page.items.length, 'latin1')
  page.release?.()
  return {
    status: 200,
    headers: pageHeaders(etag),
    body,
    sent: () => bodies.takeBack(body),
  }
}

const bodies = openLentBuffers()

export const pageHeaders = (etag: string) => ({ 'cache-control': 'private, no-cache', etag })

/**
 * A tag of the request and of what may change in its answer: the program's version, the revision
 * of the tenant's records, and the cursor key, which may be revoked. So it takes no page to make.
 * The tag is weak, because each cursor is sealed anew: the bytes differ, the meaning does not.
 */
export function etagOf(
  { id }: ListOperation,
  { tenant }: Principal,
  { rawQuery }: Pick<Request, 'rawQuery'>,
  revision: string,
  keys: CursorKeys,
): string {
  const what = [version, id, rawQuery, revision, tenant, keys.current().id]
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
